// A copy in a stream, in pieces of 4 GiB at most.
#pragma once

#include <cstdint>
#include <functional>

#include "dispatcher.h"
#include "hccl/base/result.h"

namespace ropeway::comm {

struct CopyRequest {
  void* dst;
  uint64_t dest_max;  // handed to the runtime with every piece, as the original does
  const void* src;
  uint64_t count;
  int runtime_kind;
};

// Queues the pieces in ascending order, each by the way that its addresses ask for, and tells `queued(dst, src, bytes)` after each.
// When a piece is refused, those before it stay queued.
using PieceQueued = std::function<void(void* dst, const void* src, uint64_t bytes)>;
Status QueueCopy(const CopyRequest& request, HcclRtStream stream, const PieceQueued& queued);

// The largest piece; tests make it small.
uint64_t MaxPieceBytes();
void SetMaxPieceBytesForTest(uint64_t bytes);

}  // namespace ropeway::comm
