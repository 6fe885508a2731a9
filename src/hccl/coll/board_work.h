// What a rank does for a collective on the board, once the words say that it may: copies and reductions, in the order of the plan's, so
// that the bits are the same by either way.
#pragma once

#include <cstdint>

#include "hccl/base/reduce_kernel.h"
#include "hccl/coll/plan.h"

namespace ropeway::comm {

// From here on one copy by the kernel costs less than two of our own (16 KiB: 3 to 6 us and 3 to 4 us; 32 KiB: 3 and 6).
constexpr uint64_t kReadInPlace = 32 << 10;
// Up to here the rank's one thread takes no longer to read it than the engine, where no core is free to help that.
constexpr uint64_t kMostInPlace = 8 << 20;

// Whether a collective whose blocks are equal can go over the board: all wait for all, and what each brings fits into a slot. If it is
// large (Board::ReadsLarge), it only copies, and all of it is read in place.
enum class BoardFit : uint8_t { kNo, kSlot, kLargeInPlace };
BoardFit FitOnBoard(const CollectiveShape& shape, uint64_t input_bytes);

struct BoardWork {
  const CollectiveShape& shape;  // but for its hosts
  uint32_t ranks = 0;
  ReduceKernel kernel = nullptr;
  uint64_t bytes = 0;  // that a rank brings
  const char* input = nullptr;
  char* output = nullptr;

  // A part of the result is made at each rank, and then all of them are gathered.
  bool HasTwoStages() const { return shape.what == Collective::kAllReduce && bytes > kEagerBytes; }
  bool OnlyCopies() const { return kernel == nullptr; }
  // Whether contributions are read where they are, which is so for all ranks or none.
  bool StayInPlace() const { return OnlyCopies() && shape.receives[shape.rank].bytes >= kReadInPlace; }
  void Bring(char* own_slot) const;
  // `slots`: by rank. The own part of an all-reduce in two stages goes into the own slot, everything else into the output.
  void Reduce(const char* const* slots, char* own_slot) const;
  void Gather(const char* const* slots) const;
  // Into the output, of the others; read(rank, offset, bytes, to) fetches what a rank has brought. Whose could not be read, else the number
  // of ranks.
  template <typename Read>
  uint32_t CopyBlocks(const Read& read) const {
    const uint64_t offset = OffsetOfOwn();
    uint32_t rank = NextRank(shape.rank);  // not all read the same one at the same time
    for (; rank != shape.rank; rank = NextRank(rank)) {
      const Block block = shape.receives[rank];
      if (!read(rank, offset, block.bytes, output + block.offset)) return rank;
    }
    return ranks;
  }
  void CopyOwnBlock() const;

 private:
  uint32_t NextRank(uint32_t rank) const { return rank + 1 == ranks ? 0 : rank + 1; }
  // Where in what a rank brings this rank's block is.
  uint64_t OffsetOfOwn() const { return shape.what == Collective::kAllGather ? 0 : shape.sends[shape.rank].offset; }
  void ReduceAll(const char* const* slots) const;
  void ReducePart(const char* const* slots, const Block& part, const char* own, char* to) const;
};

}  // namespace ropeway::comm
