// Host code that touches a device address dies here as it would with an NPU; this makes the crash say so in one line. A task of ours
// that touches memory of the program which is not there ends, and nothing dies (base/host_touch.h).
#pragma once

namespace ropeway {

class Memory;

// Installs the handler in front of whatever handles SIGSEGV and SIGBUS now. Once per process.
void HandleFaults(const Memory& memory);

}  // namespace ropeway
