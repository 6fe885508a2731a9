// The copy of a call whose stream has no handle: done by the calling thread, bounded by destMax.
#pragma once

#include <cstdint>

#include "hccl/base/result.h"

namespace ropeway::comm {

// HCCL_E_INTERNAL when destMax is 0 or above 2 GiB - 1; when count exceeds it, or the ranges overlap without being the same, also
// HCCL_E_INTERNAL, and destMax bytes at dst become zero. Device addresses are copied by the runtime.
Status CopyOnHost(void* dst, uint64_t dest_max, const void* src, uint64_t count);

}  // namespace ropeway::comm
