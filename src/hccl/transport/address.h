// An IPv4 or IPv6 address with a port, and which of this machine's addresses a rank offers to the others.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ropeway::comm {

struct Address {
  // Empty when `text` is not a numeric address.
  static std::optional<Address> Parse(const std::string& text, uint16_t port);
  static Address Of(const sockaddr_storage& storage);

  bool valid() const { return family != 0; }
  bool IsLoopback() const;
  std::string Text() const;  // 10.0.0.1:16666, [fe80::1]:16666
  socklen_t Fill(sockaddr_storage* storage) const;

  uint8_t family = 0;  // 0, 4 or 6
  uint8_t bytes[16] = {};
  uint16_t port = 0;
  uint32_t scope = 0;  // the interface of a link-local IPv6 address; has a meaning on this host only
};

// The address that peers shall use: HCCL_IF_IP, else the first interface that HCCL_SOCKET_IFNAME admits, else the first
// one by name (container bridges come after all others, the loopback last). Empty with the reason in *why. The port is
// 0.
std::optional<Address> ChooseLocalAddress(std::string* why);

// The name of the interface that has this address, whatever its port; "" when none has.
std::string InterfaceOf(const Address& address);

}  // namespace ropeway::comm
