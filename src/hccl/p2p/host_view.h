// How our threads reach the memory that a program hands to a call.
#pragma once

#include <cstdint>

#include "hccl/base/result.h"

namespace ropeway::comm {

// Host access to device memory, which is what these calls move; null where the engine has none. HCCL_E_PARA for what is not inside one
// block.
Result<void*> HostViewOf(const void* buffer, uint64_t bytes);

}  // namespace ropeway::comm
