// Which call answers a code instead of being made (src/base/fault_rules.h).
#pragma once

namespace ropeway::check {

// The code that this call answers; 0 when it is made.
int FaultOf(const char* function);

}  // namespace ropeway::check
