// Keeps strangers away from the port of UCX's TCP transport, which believes whoever connects: it writes to any address that it is
// told, and ends the process on bytes it does not understand.
//
// A socket filter of the kernel drops every packet to the listening socket. While a peer connects, packets from its addresses pass
// if they carry no data, so a connection can be made, and inherits the filter: not a byte of it is heard. The peer then claims
// its connections over the authenticated channel, which lifts the filter from them. What was dropped before is sent again by TCP,
// after a fifth of a second: that is what a first connection to a peer costs.
//
// What nobody claims is reset when the last peer has connected, and not by the clock: on a busy machine a claim may take seconds, and
// UCX does not always get over the loss of a connection that it is about to make.
//
// All functions on the link's thread.
#pragma once

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
  // Lifts the filter from claimed connections, and resets those that nobody will claim.
  void Vet();
  const std::set<uint16_t>& ports() const { return ports_; }

 private:
  bool SetFilters(std::string* why);

  std::vector<int> listeners_;
  std::set<uint16_t> ports_;
  std::map<const void*, std::vector<Ip>> admitted_;
  bool closing_ = false;  // nobody is admitted any more, but somebody may still be in the queue of a listening socket
  std::set<std::string> approved_;
  std::set<uint64_t> known_;  // connected and heard, by inode
};

}  // namespace ropeway::comm
