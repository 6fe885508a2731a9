// For tests of the service: an offer that answers, a listener that remembers, and a stranger who speaks to a service by hand.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <vector>

#include "ipc/service.h"

namespace ropeway_unit {

constexpr uint32_t kTestType = 7;
constexpr uint32_t kTwice = 16;   // a request: answered by twice the value
constexpr uint32_t kShout = 17;   // asks for a message of the same kind, with a descriptor if there is one
constexpr uint32_t kIgnore = 18;  // a request that nobody answers

// Remembers what came; whoever waits for more of it does so without a clock.
class Ear {
 public:
  void Heard(const ropeway::ipc::Message& message, ropeway::FileDescriptor fd) {
    std::lock_guard lock(mutex_);
    messages_.push_back(message);
    fds_.push_back(std::move(fd));
    changed_.notify_all();
  }
  void Left(bool said_goodbye) {
    std::lock_guard lock(mutex_);
    ++(said_goodbye ? goodbyes_ : deaths_);
    changed_.notify_all();
  }
  ropeway::ipc::Message AwaitMessage(size_t index, int* fd = nullptr) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return messages_.size() > index; });
    if (fd != nullptr) *fd = fds_[index].get();
    return messages_[index];
  }
  void AwaitGoodbyes(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return goodbyes_ >= count; });
  }
  void AwaitDeaths(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return deaths_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ropeway::ipc::Message> messages_;
  std::vector<ropeway::FileDescriptor> fds_;
  int goodbyes_ = 0, deaths_ = 0;
};

class TestOffer final : public ropeway::ipc::Offer {
 public:
  TestOffer() : Offer(kTestType) {}
  void OnJoined(ropeway::ipc::Connection&, ropeway::ipc::Message* welcome, int* with) override {
    welcome->value[0] = 42;
    *with = fd;
  }
  void OnMessage(ropeway::ipc::Connection& connection, const ropeway::ipc::Message& message, ropeway::FileDescriptor came) override {
    if (message.kind == kTwice) connection.Reply(message.ticket, 0, 2 * message.value[0]);
    if (message.kind == kShout) connection.Post(message, came.get());
    ear.Heard(message, std::move(came));
  }
  void OnGone(ropeway::ipc::Connection&, bool said_goodbye) override { ear.Left(said_goodbye); }

  int fd = -1;
  Ear ear;
};

class TestListener final : public ropeway::ipc::Listener {
 public:
  void OnMessage(ropeway::ipc::Connection&, const ropeway::ipc::Message& message, ropeway::FileDescriptor fd) override {
    ear.Heard(message, std::move(fd));
  }
  void OnGone(ropeway::ipc::Connection&, bool said_goodbye) override { ear.Left(said_goodbye); }
  Ear ear;
};

// Calls a service by its name and says what it likes.
class Stranger {
 public:
  explicit Stranger(uint64_t service) : fd_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int length = snprintf(address.sun_path + 1, 64, "ropeway-%016llx", static_cast<unsigned long long>(service));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0;
  }
  ~Stranger() { close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void Say(const void* bytes, size_t size) { static_cast<void>(send(fd_, bytes, size, MSG_NOSIGNAL)); }
  void SayHello(const ropeway::ipc::Key& key, uint64_t protocol = ropeway::ipc::kProtocol, uint32_t type = kTestType) {
    const ropeway::ipc::Message hello{ropeway::ipc::kHello, type, {protocol, key.secret[0], key.secret[1], key.secret[2]}};
    Say(&hello, sizeof(hello));
  }
  // The next message; its kind is 0 when the service hung up.
  ropeway::ipc::Message Hear() {
    ropeway::ipc::Message message;
    if (recv(fd_, &message, sizeof(message), 0) != static_cast<ssize_t>(sizeof(message))) message.kind = 0;
    return message;
  }

 private:
  int fd_;
  bool connected_ = false;
};

// Counts descriptors when no connection but its own is left, and the service's thread has let go of the last one: that thread
// answers here only when it is back from what it did before.
class DescriptorCount {
 public:
  explicit DescriptorCount(ropeway::ipc::Service* service) : service_(service) {
    auto offer = std::make_shared<TestOffer>();
    key_ = service->Publish(offer).value();
    auto joined = service->Connect(key_, kTestType, std::make_shared<TestListener>(), ropeway::Deadline::Never());
    EXPECT_TRUE(joined.ok());
    connection_ = joined.value().connection;
  }
  ~DescriptorCount() {
    connection_->Close();
    service_->Withdraw(key_);
  }
  DescriptorCount(const DescriptorCount&) = delete;
  DescriptorCount& operator=(const DescriptorCount&) = delete;

  size_t Now() {
    while (service_->connections() != 2) sched_yield();  // both ends of ours
    EXPECT_TRUE(connection_->Call({kTwice, 0, {1}}, ropeway::Deadline::Never()).ok());
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
  }

 private:
  ropeway::ipc::Service* service_;
  ropeway::ipc::Key key_;
  std::shared_ptr<ropeway::ipc::Connection> connection_;
};

}  // namespace ropeway_unit
