// Checks that sends, receives and collectives share.
#pragma once

#include <cstdint>

#include "hccl/base/reduce_kernel.h"
#include "hccl/base/result.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

constexpr uint64_t kMostElements = 0x7FFFFFFFF;  // SYS_MAX_COUNT

inline Status RequireElements(const char* name, uint64_t count) {
  if (count <= kMostElements) return Ok();
  return Fail(HCCL_E_PARA, "%s is %lu, more than %lu elements", name, count, kMostElements);
}

inline Status RequireRankOf(const char* name, uint32_t rank, const Communicator& communicator) {
  if (rank < communicator.size()) return Ok();
  return Fail(HCCL_E_PARA, "%s is %u; the communicator has %u ranks", name, rank, communicator.size());
}

}  // namespace ropeway::comm
