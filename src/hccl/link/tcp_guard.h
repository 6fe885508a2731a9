// Keeps strangers away from the port of UCX's TCP transport, which believes whoever connects: it writes to any address that it is
// told, and ends the process on bytes it does not understand.
//
// A socket filter of the kernel drops every packet to the listening socket. While a peer connects, packets from its addresses pass
// if they carry no data, so a connection can be made, and inherits the filter: not a byte of it is heard. The peer then claims
// its connections over the authenticated channel, which lifts the filter from them; all others are reset. What was dropped before
// is sent again by TCP, after a fifth of a second: that is what a first connection to a peer costs.
//
// All functions on the link's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hccl/link/tcp_sockets.h"

namespace ropeway::comm {

class TcpGuard {
 public:
  // Closes the listening sockets of this process in [low, high]. False with the reason when the kernel refuses.
  bool Attach(uint16_t low, uint16_t high, std::string* why);

  // Between these two `who` may connect from `ips`.
  void Admit(const void* who, const std::vector<Ip>& ips);
  void Dismiss(const void* who);
  // Connections that admitted peers claim, as TcpEnd::Text() of their own ends.
  void Approve(const std::vector<std::string>& ends) { approved_.insert(ends.begin(), ends.end()); }

  // Connections may be coming in: Vet wants to be called now and then.
  bool watching() const { return !admitted_.empty() || closing_; }
  // Lifts the filter from claimed connections, and resets those that nobody claims.
  void Vet();
  const std::set<uint16_t>& ports() const { return ports_; }

 private:
  bool SetFilters(std::string* why);

  std::vector<int> listeners_;
  std::set<uint16_t> ports_;
  std::map<const void*, std::vector<Ip>> admitted_;
  bool closing_ = false;  // nobody is admitted any more, but somebody may still be in the queue of the socket
  std::set<std::string> approved_;
  std::set<uint64_t> known_;  // connected and heard, by inode
  std::map<uint64_t, std::chrono::steady_clock::time_point> unknown_;
};

}  // namespace ropeway::comm
