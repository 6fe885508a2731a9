// Who this process is among all others: the host, as far as shared memory reaches, and the process.
#pragma once

#include <cstdint>
#include <string>

namespace ropeway::comm {

// The boot, the network namespace and the user: two processes with the same text can share memory. Containers and
// namespaces count as hosts of their own, since nothing says that they can.
std::string HostIdentity();

// The part of it that says how far a loopback reaches.
std::string NetworkOf(const std::string& host);

// A random number that no other process has; pids repeat between namespaces.
uint64_t ProcessNumber();

}  // namespace ropeway::comm
