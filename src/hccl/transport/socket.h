// TCP sockets as the ranks use them: never blocking, closed on exec, and with a bound on how long a dead link goes
// unnoticed.
#pragma once

#include <string>

#include "base/file_descriptor.h"
#include "hccl/transport/address.h"

namespace ropeway::comm {

// A listening socket on `address`; port 0 for any. *address becomes what was bound. Invalid with the reason in *why.
FileDescriptor Listen(Address* address, std::string* why);

// Whether it is an address of this network namespace. Ports do not matter.
bool IsLocal(const Address& address);

// Begins to connect; writable once it is decided, then ConnectOutcome says how (0 or an errno). Invalid with errno when
// refused.
FileDescriptor BeginConnect(const Address& address);
int ConnectOutcome(int fd);

// Accepts one connection and says from where, without the port; invalid with errno set when there is none.
FileDescriptor Accept(int listener, Address* from);

// How many descriptors the process may have.
size_t DescriptorLimit();
// What an errno says, with the limit when it is about descriptors.
std::string SystemError(int error);

}  // namespace ropeway::comm
