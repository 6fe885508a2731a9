#include "hccl/coll/board_work.h"

#include <cstring>

namespace ropeway::comm {

BoardFit FitOnBoard(const CollectiveShape& shape, uint64_t input_bytes) {
  const bool only_copies = shape.what == Collective::kAllGather || shape.what == Collective::kAllToAll;
  const bool all_wait = only_copies || shape.what == Collective::kAllReduce || shape.what == Collective::kReduceScatter;
  if (!all_wait || input_bytes == 0) return BoardFit::kNo;
  if (input_bytes <= kBoardBytes) return BoardFit::kSlot;
  const bool in_place = only_copies ? shape.receives[shape.rank].bytes >= kReadInPlace : shape.what == Collective::kAllReduce;
  return in_place && input_bytes <= kMostInPlace ? BoardFit::kLargeInPlace : BoardFit::kNo;
}

// Of an all-to-all, what is the rank's own stays where it is.
void BoardWork::Bring(char* own_slot) const {
  if (shape.what != Collective::kAllToAll) {
    std::memcpy(own_slot, input, bytes);
    return;
  }
  const Block mine = shape.sends[shape.rank];
  const uint64_t behind = mine.offset + mine.bytes;
  std::memcpy(own_slot, input, mine.offset);
  std::memcpy(own_slot + behind, input + behind, bytes - behind);
}

void BoardWork::Reduce(const char* const* slots, char* own_slot) const {
  if (shape.what == Collective::kAllReduce && !HasTwoStages()) return ReduceAll(slots);
  if (shape.what == Collective::kAllReduce) {
    const Block part = PartOfRank(shape.rank);
    return ReducePart(slots, part, own_slot + part.offset, own_slot + part.offset);
  }
  const Block mine = shape.sends[shape.rank];
  ReducePart(slots, mine, own_slot + mine.offset, output);
}

// In the order of the ranks.
void BoardWork::ReduceAll(const char* const* slots) const {
  const uint64_t count = bytes / shape.element_bytes;
  kernel(output, slots[0], slots[1], count);
  for (uint32_t rank = 2; rank < ranks; ++rank) kernel(output, output, slots[rank], count);
}

// From the own elements on, round the ranks.
void BoardWork::ReducePart(const char* const* slots, const Block& part, const char* own, char* to) const {
  for (uint32_t k = 1; k < ranks; ++k) {
    const char* const theirs = slots[(shape.rank + k) % ranks] + part.offset;
    kernel(to, k == 1 ? own : to, theirs, part.bytes / shape.element_bytes);
  }
}

void BoardWork::Gather(const char* const* slots) const {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const Block part = PartOfRank(rank);
    std::memcpy(output + part.offset, slots[rank] + part.offset, part.bytes);
  }
}

void BoardWork::CopyOwnBlock() const {
  const Block own = shape.receives[shape.rank];
  if (!shape.in_place) std::memcpy(output + own.offset, input + OffsetOfOwn(), own.bytes);
}

}  // namespace ropeway::comm
