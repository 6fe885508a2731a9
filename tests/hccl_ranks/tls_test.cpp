// ROPEWAY_HCCL_TLS: what somebody on the way between two ranks sees and can do. A relay of the test stands there.
#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "hccl/transport/door.h"
#include "hccl/transport/rank_connection.h"
#include "hccl_ranks/ranks.h"

namespace tls_test {

using namespace ropeway_test;
using namespace ropeway::comm;
using ropeway::FileDescriptor;

const std::string kCommunicator(kCommunicatorBytes, 'c');
const std::string kSecret(32, 's');
const std::string kText = "bytes that are nobody's business";

// Passes everything on between whoever calls it and `target`, and writes it down.
class Relay {
 public:
  explicit Relay(const Address& target) : target_(target), address_(*Address::Parse("127.0.0.1", 0)) {
    std::string why;
    listener_ = Listen(&address_, &why);
    thread_ = std::thread([this] { Run(); });
  }
  ~Relay() {
    stop_ = true;
    thread_.join();
  }
  const Address& address() const { return address_; }
  std::string seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  std::atomic<bool> spoils{false};  // what the caller says from now on
  std::atomic<bool> cuts{false};

 private:
  void Run() {
    Address from;
    while (!stop_ && !caller_) {
      if (Wait({listener_.get()})) caller_ = Accept(listener_.get(), &from);
    }
    if (stop_) return;
    callee_ = BeginConnect(target_);
    while (!stop_ && !cuts) {
      if (!Wait({caller_.get(), callee_.get()})) continue;
      if (!Pass(caller_.get(), callee_.get(), spoils) || !Pass(callee_.get(), caller_.get(), false)) break;
    }
    caller_ = FileDescriptor();
    callee_ = FileDescriptor();
  }
  static bool Wait(std::vector<int> fds) {
    std::vector<pollfd> waiting;
    for (const int fd : fds) waiting.push_back({fd, POLLIN, 0});
    return poll(waiting.data(), waiting.size(), 10) > 0;
  }
  bool Pass(int from, int to, bool spoil) {
    char bytes[16 << 10];
    const ssize_t got = recv(from, bytes, sizeof bytes, 0);
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    if (spoil) bytes[std::min<ssize_t>(got - 1, 10)] ^= 1;  // of the first record
    {
      std::lock_guard lock(mutex_);
      seen_.append(bytes, static_cast<size_t>(got));
    }
    for (ssize_t sent = 0; sent < got && !stop_;) {
      pollfd room{to, POLLOUT, 0};
      if (poll(&room, 1, 10) <= 0) continue;
      const ssize_t some = send(to, bytes + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
      if (some < 0 && errno != EAGAIN) return false;
      if (some > 0) sent += some;
    }
    return true;
  }

  const Address target_;
  Address address_;
  FileDescriptor listener_, caller_, callee_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::string seen_;
  std::thread thread_;
};

struct Answer {
  SecureSocket socket;
  Verdict verdict;
  std::string why;
};

// Runs it on the I/O thread.
template <typename Function>
auto OnIo(Function function) {
  std::promise<decltype(function())> done;
  IoThread::Get().Post([&] { done.set_value(function()); });
  return done.get_future().get();
}

bool PluginThere() {
  std::string why;
  return TlsThere(&why);
}

class Tls : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!PluginThere()) GTEST_SKIP() << "built without libgnutls28-dev";
    std::string why;
    listener_ = OnIo([&] { return Door::Get().Open(*Address::Parse("127.0.0.1", 0), &why); });
    ASSERT_NE(listener_, nullptr) << why;
    OnIo([&] {
      Door::Get().Admit(kCommunicator, 0,
                        {kSecret, [](const Hello&) { return Verdict::kWelcome; },
                         [this](const Hello&, SecureSocket fd) { entered_.set_value(std::move(fd)); }});
      return true;
    });
    relay_ = std::make_unique<Relay>(listener_->address());
  }
  void TearDown() override {
    if (!listener_) return;
    OnIo([&] {
      Door::Get().Revoke(kCommunicator, 0);
      if (sender_) sender_->Abort();
      if (receiver_) receiver_->Abort();
      listener_.reset();
      return true;
    });
  }
  Answer Call(const Hello& hello, const std::string& secret = kSecret) {
    std::promise<Answer> answered;
    std::shared_ptr<Caller> caller = OnIo([&] {
      return Caller::Start(relay_->address(), hello, secret, [&](SecureSocket fd, Verdict verdict, const std::string& why) {
        answered.set_value({std::move(fd), verdict, why});
      });
    });
    Answer answer = answered.get_future().get();
    OnIo([&] {  // which it belongs to
      caller.reset();
      return true;
    });
    return answer;
  }
  // Two connections through the relay; the second one takes `size` bytes behind a frame, and `ended_` has how it ends.
  void Connect(size_t size) {
    Answer answer = Call({kCommunicator, 1, 0, Purpose::kLink});
    ASSERT_TRUE(answer.socket) << answer.why;
    SecureSocket entered = entered_.get_future().get();
    ASSERT_EQ(entered.encrypted(), TlsWanted());
    target_.assign(size, '\0');
    OnIo([&] {
      Connection::Events events;
      events.received = [this](const Frame& frame) { frames_.push_back(frame.body); };
      events.bulk_begins = [this](const Frame&, uint64_t bulk) -> std::optional<Bulk> {
        return Bulk{target_.data(), bulk, std::make_shared<Lease>()};
      };
      events.bulk_ended = [this](const Frame&, uint64_t, bool taken) { Ended(taken ? "taken" : "lost"); };
      events.closed = [this](bool, const std::string& why) { Ended("broke: " + why); };
      receiver_ = Connection::Open(std::move(entered), events);
      Connection::Events sending;
      sending.received = [](const Frame&) {};
      sending.closed = [](bool, const std::string&) {};
      sending.idle = [this] {
        if (const std::string* const bytes = std::exchange(to_send_, nullptr))
          sender_->SendBulk({2, 1, kText}, {const_cast<char*>(bytes->data()), bytes->size(), std::make_shared<Lease>()});
      };
      sender_ = Connection::Open(std::move(answer.socket), sending);
      return true;
    });
  }
  void Send(const std::string& bytes) {
    OnIo([&] {
      sender_->Send({1, 1, kText});
      to_send_ = &bytes;
      sender_->Wake();
      return true;
    });
  }
  void Ended(const std::string& how) {
    if (!std::exchange(told_, true)) ended_.set_value(how);
  }

  Setting tls_{"ROPEWAY_HCCL_TLS", "1"};
  std::shared_ptr<Listener> listener_;
  std::unique_ptr<Relay> relay_;
  std::promise<SecureSocket> entered_;
  std::promise<std::string> ended_;
  bool told_ = false;
  std::shared_ptr<Connection> sender_, receiver_;
  const std::string* to_send_ = nullptr;
  std::string target_;
  std::vector<std::string> frames_;
};

std::string Many(size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes += kText;
  bytes.resize(size);
  return bytes;
}

class TlsWire : public Tls {};
INSTANTIATE_TEST_SUITE_P(Encrypted, TlsWire, ::testing::Bool(), [](const auto& on) { return on.param ? "on" : "off"; });

// Off: the relay does see what it looks for.
TEST_P(TlsWire, WhoIsOnTheWaySeesTheBytesWithoutItAndNotWithIt) {
  const Setting tls("ROPEWAY_HCCL_TLS", GetParam() ? "1" : "0");
  const std::string bytes = Many(3 << 20);
  Connect(bytes.size());
  Send(bytes);
  EXPECT_EQ(ended_.get_future().get(), "taken");
  EXPECT_TRUE(target_ == bytes);
  EXPECT_EQ(OnIo([&] { return frames_; }), std::vector<std::string>{kText});
  const std::string seen = relay_->seen();
  EXPECT_GT(seen.size(), bytes.size());
  EXPECT_EQ(seen.find(kText) == std::string::npos, GetParam());
}

TEST_F(Tls, EverySizeArrives) {
  for (const size_t size : {size_t{1}, size_t{100}, (size_t{16} << 10) - 1, size_t{16} << 10, (size_t{16} << 10) + 1, size_t{1} << 20}) {
    if (size != 1) {
      TearDown();
      entered_ = {};
      ended_ = {};
      told_ = false;
      SetUp();
    }
    const std::string bytes = Many(size);
    Connect(size);
    Send(bytes);
    EXPECT_EQ(ended_.get_future().get(), "taken") << size;
    EXPECT_TRUE(target_ == bytes) << size;
  }
}

TEST_F(Tls, AChangedBitBreaksTheConnectionAndIsNotDelivered) {
  const std::string bytes = Many(100);
  Connect(bytes.size());
  relay_->spoils = true;
  Send(bytes);
  EXPECT_EQ(ended_.get_future().get().find("broke: "), 0u);
  EXPECT_EQ(target_, std::string(100, '\0'));
  EXPECT_TRUE(OnIo([&] { return frames_; }).empty());
}

TEST_F(Tls, ACutConnectionEnds) {
  Connect(64);
  relay_->cuts = true;
  EXPECT_EQ(ended_.get_future().get().find("broke: "), 0u);
}

TEST_F(Tls, AWrongSecretIsRefused) {
  const Answer answer = Call({kCommunicator, 1, 0, Purpose::kLink}, std::string(32, 'w'));
  EXPECT_FALSE(answer.socket);
  EXPECT_NE(answer.why, "");
}

TEST_F(Tls, WhoDoesNotEncryptIsToldWhichSettingDiffers) {
  Hello hello{kCommunicator, 1, 0, Purpose::kLink};
  hello.encrypted = false;
  const Answer answer = Call(hello);
  EXPECT_FALSE(answer.socket);
  EXPECT_EQ(answer.verdict, Verdict::kEncryptionDiffers);
  EXPECT_NE(answer.why.find("ROPEWAY_HCCL_TLS is 0 here and 1 on the other side"), std::string::npos) << answer.why;
}

TEST_F(Tls, WhoEncryptsAloneIsToldSo) {
  const Setting off("ROPEWAY_HCCL_TLS", "0");
  Hello hello{kCommunicator, 1, 0, Purpose::kLink};
  hello.encrypted = true;
  const Answer answer = Call(hello);
  EXPECT_EQ(answer.verdict, Verdict::kEncryptionDiffers);
  EXPECT_NE(answer.why.find("ROPEWAY_HCCL_TLS is 1 here and 0 on the other side"), std::string::npos) << answer.why;
}

TEST_F(Tls, GarbageInTheHandshakeEndsIt) {
  relay_->spoils = true;
  const Answer answer = Call({kCommunicator, 1, 0, Purpose::kLink});
  EXPECT_FALSE(answer.socket);
}

}  // namespace tls_test
