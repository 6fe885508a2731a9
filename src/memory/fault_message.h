// Host code that touches a device address dies here as it would with an NPU; this makes the crash say so in one line.
#pragma once

namespace ropeway {

class Memory;

// Installs the handler in front of whatever handles SIGSEGV now. Once per process.
void ExplainDeviceFaults(const Memory& memory);

}  // namespace ropeway
