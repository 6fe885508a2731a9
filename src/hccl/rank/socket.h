// TCP sockets as the ranks use them: never blocking, closed on exec, and with a bound on how long a dead link goes
// unnoticed.
#pragma once

#include <string>
#include <utility>

#include "hccl/rank/address.h"

namespace ropeway::comm {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A listening socket on `address`; port 0 for any. *address becomes what was bound. Invalid with the reason in *why.
Fd Listen(Address* address, std::string* why);

// Whether it is an address of this network namespace. Ports do not matter.
bool IsLocal(const Address& address);

// Begins to connect; writable once it is decided, then ConnectOutcome says how (0 or an errno). Invalid with errno when
// refused.
Fd BeginConnect(const Address& address);
int ConnectOutcome(int fd);

// Accepts one connection and says from where, without the port; invalid with errno set when there is none.
Fd Accept(int listener, Address* from);

// How many descriptors the process may have.
size_t DescriptorLimit();
// What an errno says, with the limit when it is about descriptors.
std::string SystemError(int error);

}  // namespace ropeway::comm
