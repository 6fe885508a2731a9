// Who is no rank gets nothing and breaks nothing: garbage, silence, floods, replays, and hellos with the wrong secret,
// all while ranks find each other and exchange data.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hccl/bootstrap/root_info.h"
#include "hccl/transport/handshake.h"
#include "hccl_ranks/ranks.h"

namespace strangers_test {

using namespace ropeway_test;
using namespace ropeway::comm;

class Strangers : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    ASSERT_EQ(HcclGetRootInfo(&root_), HCCL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_TRUE(ReadRootInfo(root_, &ticket_));
  }

  // A blocking connection to the root's port; `from`: the address to call from, which must be of the same family.
  int Knock(const char* from = nullptr) const {
    sockaddr_storage storage;
    const socklen_t size = ticket_.root.Fill(&storage);
    const int fd = socket(storage.ss_family, SOCK_STREAM, 0);
    if (from != nullptr) {
      sockaddr_storage own;
      const socklen_t own_size = Address::Parse(from, 0)->Fill(&own);
      EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&own), own_size), 0);
    }
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&storage), size), 0);
    return fd;
  }
  static std::string Read(int fd, size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = recv(fd, bytes.data(), size, MSG_WAITALL);
    bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return bytes;
  }
  // What the stranger hears after its nonce and what it says: nothing, and then the end.
  void ExpectHungUpOn(int fd, const std::string& said) const {
    EXPECT_EQ(send(fd, said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
    shutdown(fd, SHUT_WR);
    EXPECT_EQ(Read(fd, 1), "");
    close(fd);
  }
  void ExpectRanksMeet() {
    RunRanks(2, [&](uint32_t rank) {
      HcclComm comm = nullptr;
      ASSERT_EQ(HcclCommInitRootInfo(2, &root_, rank, &comm), HCCL_SUCCESS) << aclGetRecentErrMsg();
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      EXPECT_EQ(HcclBarrier(comm, stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
      EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    });
  }

  HcclRootInfo root_;
  RootTicket ticket_;
};

TEST_F(Strangers, GetNothingButRandomBytes) {
  const int one = Knock(), two = Knock();
  const std::string first = Read(one, kNonceBytes), second = Read(two, kNonceBytes);
  EXPECT_EQ(first.size(), kNonceBytes);
  EXPECT_NE(first, second);
  ExpectHungUpOn(one, std::string(kHelloBytes, 'x'));
  ExpectHungUpOn(two, "GET / HTTP/1.0\r\n\r\n");
  ExpectRanksMeet();
}

TEST_F(Strangers, WrongSecretIsHungUpOn) {
  const int fd = Knock();
  const std::string nonce = Read(fd, kNonceBytes);
  ExpectHungUpOn(fd, MakeHello({ticket_.communicator, 0, kRoot, Purpose::kJoin}, std::string(32, 'w'), nonce, std::string(32, 'o')));
  ExpectRanksMeet();
}

TEST_F(Strangers, UnknownCommunicatorIsHungUpOn) {
  const int fd = Knock();
  const std::string nonce = Read(fd, kNonceBytes);
  ExpectHungUpOn(fd, MakeHello({std::string(16, 'u'), 0, kRoot, Purpose::kJoin}, ticket_.secret, nonce, std::string(32, 'o')));
  ExpectRanksMeet();
}

// A greeting that was recorded from a rank proves nothing on a second connection.
TEST_F(Strangers, ReplayIsHungUpOn) {
  const int first = Knock();
  const std::string nonce = Read(first, kNonceBytes);
  const std::string hello = MakeHello({ticket_.communicator, 1, kRoot, Purpose::kJoin}, ticket_.secret, nonce, std::string(32, 'o'));
  EXPECT_EQ(send(first, hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  EXPECT_EQ(Read(first, kVerdictBytes).size(), kVerdictBytes) << "the real one is answered";
  const int second = Knock();
  Read(second, kNonceBytes);
  ExpectHungUpOn(second, hello);
  close(first);
  ExpectRanksMeet();
}

// A rank that knows the secret and then talks nonsense loses its connection, and nobody else does.
TEST_F(Strangers, GarbageBehindAGoodGreetingEndsThatConnectionOnly) {
  const int fd = Knock();
  const std::string nonce = Read(fd, kNonceBytes);
  const std::string hello = MakeHello({ticket_.communicator, 7, kRoot, Purpose::kJoin}, ticket_.secret, nonce, std::string(32, 'o'));
  EXPECT_EQ(send(fd, hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  EXPECT_EQ(Read(fd, kVerdictBytes).size(), kVerdictBytes);
  const std::string garbage(100000, '\xff');
  send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL);
  EXPECT_EQ(Read(fd, 1), "");
  close(fd);
  ExpectRanksMeet();
}

TEST_F(Strangers, ManySilentOnesKeepNobodyOut) {
  std::vector<int> fds;
  for (int i = 0; i < 300; ++i) fds.push_back(Knock());
  ExpectRanksMeet();
  for (const int fd : fds) close(fd);
}

// The limit of the process on descriptors, for the length of a scope.
class DescriptorLimitOf {
 public:
  explicit DescriptorLimitOf(rlim_t limit) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit lower{limit, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  }
  ~DescriptorLimitOf() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  DescriptorLimitOf(const DescriptorLimitOf&) = delete;
  DescriptorLimitOf& operator=(const DescriptorLimitOf&) = delete;

 private:
  rlimit before_{};
};

class LocalStrangers : public Strangers {
  Setting loopback_{"HCCL_IF_IP", "127.0.0.1"};
};

// Many from one address push their own kind out, and not the one who was there before them.
TEST_F(LocalStrangers, AFloodPushesOutItsOwnKind) {
  const DescriptorLimitOf limit(400);  // 100 strangers
  const int slow = Knock("127.0.0.1");
  const std::string nonce = Read(slow, kNonceBytes);
  std::vector<int> flood;
  for (int i = 0; i < 110; ++i) {
    flood.push_back(Knock("127.0.0.2"));
    EXPECT_EQ(Read(flood.back(), kNonceBytes).size(), kNonceBytes);
  }
  EXPECT_EQ(Read(flood[0], 1), "") << "hung up on";
  const std::string hello = MakeHello({ticket_.communicator, 1, kRoot, Purpose::kJoin}, ticket_.secret, nonce, std::string(32, 'o'));
  EXPECT_EQ(send(slow, hello.data(), hello.size(), MSG_NOSIGNAL), static_cast<ssize_t>(hello.size()));
  EXPECT_EQ(Read(slow, kVerdictBytes).size(), kVerdictBytes) << "answered";
  close(slow);
  for (const int fd : flood) close(fd);
  ExpectRanksMeet();
}

// No descriptor is left for whoever calls: the joining ranks are told that, and not that others are late.
TEST_F(LocalStrangers, ALackOfDescriptorsIsNamed) {
  const Setting limit("HCCL_CONNECT_TIMEOUT", "0.2");
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::string text;
  {
    const DescriptorLimitOf none(0);
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfo(1, &root_, 0, &comm), HCCL_E_TIMEOUT);
    text = TakeErrorText();
  }
  EXPECT_THAT(text, testing::HasSubstr("Too many open files: the process may have 0 (ulimit -n)"));
}

}  // namespace strangers_test
