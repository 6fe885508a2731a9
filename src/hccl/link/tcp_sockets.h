// The TCP sockets of this process, whoever opened them: UCX does not say which are its own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ropeway::comm {

// An IPv4 address stands in the first four bytes.
struct Ip {
  bool v6 = false;
  std::array<uint8_t, 16> bytes{};
  bool operator==(const Ip&) const = default;
};

struct TcpEnd {
  Ip ip;
  uint16_t port = 0;
  std::string Text() const;
  static TcpEnd Of(const sockaddr_storage& storage);
};

struct TcpSocket {
  int fd;
  uint64_t inode;
  bool listening;
  bool connected;
  TcpEnd local;
  TcpEnd remote;  // of a connected one
};

std::vector<TcpSocket> TcpSockets();
// Addresses of this host that others can connect from.
std::vector<Ip> LocalIps();
// A port that nobody uses now; 0 when there is none.
uint16_t FreePort();

}  // namespace ropeway::comm
