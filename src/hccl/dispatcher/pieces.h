// How copies and reductions above 4 GiB are cut.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hccl/base/result.h"

namespace ropeway::comm {

// The largest piece; tests make it small.
uint64_t MaxPieceBytes();
void SetMaxPieceBytesForTest(uint64_t bytes);

// Calls queue(offset, bytes) for consecutive pieces of whole elements, in ascending order, and stops at the first failure.
template <typename Queue>
Status ForEachPiece(uint64_t bytes, uint64_t element_bytes, Queue&& queue) {
  const uint64_t limit = MaxPieceBytes();
  if (bytes <= limit) [[likely]]
    return queue(uint64_t{0}, bytes);
  const uint64_t step = limit / element_bytes * element_bytes;
  for (uint64_t offset = 0; offset < bytes; offset += step) RW_TRY(queue(offset, std::min(step, bytes - offset)));
  return Ok();
}

}  // namespace ropeway::comm
