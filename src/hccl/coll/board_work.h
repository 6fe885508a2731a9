// What a rank does for a collective on the board, once the words say that it may: copies and reductions, in the order of the plan's, so
// that the bits are the same by either way.
#pragma once

#include <cstdint>

#include "hccl/base/reduce_kernel.h"
#include "hccl/coll/plan.h"

namespace ropeway::comm {

// Whether a collective whose blocks are equal can go over the board: all wait for all, and what each brings fits into a slot.
bool FitsOnBoard(const CollectiveShape& shape, uint64_t input_bytes);

struct BoardWork {
  const CollectiveShape& shape;
  ReduceKernel kernel = nullptr;
  uint64_t bytes = 0;  // that a rank brings
  const char* input = nullptr;
  char* output = nullptr;

  // A part of the result is made at each rank, and then all of them are gathered.
  bool HasTwoStages() const { return shape.what == Collective::kAllReduce && bytes > kEagerBytes; }
  void Bring(char* own_slot) const;
  // `slots`: by rank. The own part of an all-reduce in two stages goes into the own slot, everything else into the output.
  void Take(const char* const* slots, char* own_slot) const;
  void Gather(const char* const* slots) const;

 private:
  void ReduceAll(const char* const* slots) const;
  void ReducePart(const char* const* slots, const Block& part, const char* own, char* to) const;
  void CopyBlocks(const char* const* slots) const;
};

}  // namespace ropeway::comm
