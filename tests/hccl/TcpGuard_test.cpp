// The guard of a port, with plain sockets in the place of UCX's.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "hccl/link/tcp_guard.h"

namespace tcp_guard_test {

using namespace ropeway::comm;

struct Descriptor {
  explicit Descriptor(int number) : fd(number) {}
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  int fd;
};

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

TcpEnd LocalEnd(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length);
  return TcpEnd::Of(storage);
}

struct Connection {
  Descriptor client;
  Descriptor server;
  // Asked at the end that the guard sees, where a reset takes effect at once.
  bool IsReset() const {
    sockaddr_storage remote{};
    socklen_t length = sizeof remote;
    return getpeername(server.fd, reinterpret_cast<sockaddr*>(&remote), &length) != 0;
  }
};

class TcpGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sockaddr_in any = Loopback(0);
    ASSERT_EQ(bind(listener_.fd, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    ASSERT_EQ(listen(listener_.fd, 512), 0);
    port_ = LocalEnd(listener_.fd).port;
    std::string why;
    ASSERT_TRUE(guard_.Attach(port_, port_, &why)) << why;
    loopback_ = LocalEnd(listener_.fd).ip;
  }

  Connection Connect() {
    Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(port_);
    EXPECT_EQ(connect(client.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    Descriptor server(accept4(listener_.fd, nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_GE(server.fd, 0);
    return {std::move(client), std::move(server)};
  }

  Descriptor listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  uint16_t port_ = 0;
  Ip loopback_;
  TcpGuard guard_;
  const int peer_ = 0;
  const int other_peer_ = 0;
};

TEST_F(TcpGuardTest, HearsAConnectionOnceItIsClaimed) {
  guard_.Admit(&peer_, {loopback_});
  const Connection one = Connect();
  ASSERT_EQ(write(one.client.fd, "hello", 5), 5);
  guard_.Vet();
  char heard[8];
  EXPECT_EQ(recv(one.server.fd, heard, sizeof heard, MSG_DONTWAIT), -1) << "heard before it was claimed";
  guard_.Approve({LocalEnd(one.client.fd).Text()});
  guard_.Vet();
  EXPECT_EQ(recv(one.server.fd, heard, sizeof heard, 0), 5);  // TCP sends it again
}

TEST_F(TcpGuardTest, KeepsUnclaimedConnectionsWhileAnybodyConnects) {
  guard_.Admit(&peer_, {loopback_});
  guard_.Admit(&other_peer_, {loopback_});
  const Connection one = Connect();
  guard_.Vet();
  guard_.Dismiss(&peer_);
  guard_.Vet();
  EXPECT_FALSE(one.IsReset()) << "its claim may be on the way";
  guard_.Dismiss(&other_peer_);
  guard_.Vet();
  EXPECT_TRUE(one.IsReset());
  EXPECT_FALSE(guard_.watching());
}

TEST_F(TcpGuardTest, APeerThatComesWhileTheDoorClosesIsLetIn) {
  guard_.Admit(&peer_, {loopback_});
  guard_.Dismiss(&peer_);
  guard_.Admit(&other_peer_, {loopback_});
  const Connection one = Connect();
  guard_.Vet();
  EXPECT_FALSE(one.IsReset());
}

TEST_F(TcpGuardTest, HeardConnectionsOutliveTheIntroduction) {
  guard_.Admit(&peer_, {loopback_});
  const Connection one = Connect();
  guard_.Approve({LocalEnd(one.client.fd).Text()});
  guard_.Vet();
  guard_.Dismiss(&peer_);
  guard_.Vet();
  EXPECT_FALSE(one.IsReset());
}

TEST_F(TcpGuardTest, BoundsWhatAStrangerCanHoldOpen) {
  guard_.Admit(&peer_, {loopback_});
  constexpr size_t kMost = 256;
  std::vector<Connection> many;
  for (size_t i = 0; i < kMost + 10; ++i) many.push_back(Connect());
  guard_.Vet();
  size_t reset = 0;
  for (const Connection& one : many) reset += one.IsReset() ? 1 : 0;
  EXPECT_EQ(reset, 10u);
}

}  // namespace tcp_guard_test
