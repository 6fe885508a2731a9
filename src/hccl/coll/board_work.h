// What a rank does for a collective on the board, once the words say that it may: copies and reductions, in the order of the plan's, so
// that the bits are the same by either way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "hccl/base/reduce_kernel.h"
#include "hccl/coll/plan.h"

namespace ropeway::comm {

// From here on one copy by the kernel may cost less than two of our own (Board::WayOfBlocks).
constexpr uint64_t kReadInPlace = 32 << 10;
// What a rank may contribute by a slot.
constexpr uint64_t kBoardBytes = 512 << 10;
// Up to here the rank's one thread takes no longer to read it than the engine, where no core is free to help that.
constexpr uint64_t kMostInPlace = 8 << 20;

// Whether a collective whose blocks are equal can go over the board: all wait for all, and what each brings fits into a slot. If it is
// large (Board::ReadsLarge), all of it is read in place: copies, and all-reduces.
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
  // Whether contributions are read where they are: of all ranks, as they fit into no slot; or of those that choose to.
  bool MustStay() const { return bytes > kBoardBytes; }
  bool MayStay() const { return OnlyCopies() && !MustStay() && block_bytes() >= kReadInPlace; }
  uint64_t block_bytes() const { return shape.receives[shape.rank].bytes; }
  void Bring(char* own_slot) const;
  // `slots`: by rank. The own part of an all-reduce in two stages goes into the own slot, everything else into the output.
  void Reduce(const char* const* slots, char* own_slot) const;
  void Gather(const char* const* slots) const;
  void CopyOwnBlock() const;

  // What stays where it is, or is copied: read(rank, offset, bytes, to) fetches some of what a rank has brought, or of its result. These
  // answer whose could not be read, else the number of ranks.
  template <typename Read>
  uint32_t CopyBlocks(const Read& read) const {
    const uint64_t offset = OffsetOfOwn();
    return OfOthers([&](uint32_t rank) {
      const Block block = shape.receives[rank];
      return read(rank, offset, block.bytes, output + block.offset);
    });
  }
  // The own part of an all-reduce, into the output; a little of everybody's at a time, so that it is reduced while the cache has it.
  template <typename Read>
  uint32_t ReduceOwnPart(const Read& read) const {
    const Block part = PartOfRank(shape.rank);
    const auto theirs = std::make_unique_for_overwrite<char[]>(kReducedAtOnce);
    uint32_t unread = ranks;
    for (uint64_t done = 0; done < part.bytes && unread == ranks; done += kReducedAtOnce) {
      const uint64_t at = part.offset + done, some = std::min(part.bytes - done, kReducedAtOnce);
      const char* own = input + at;
      unread = OfOthers([&](uint32_t rank) {
        if (!read(rank, at, some, theirs.get())) return false;
        kernel(output + at, std::exchange(own, output + at), theirs.get(), some / shape.element_bytes);
        return true;
      });
    }
    return unread;
  }
  template <typename Read>
  uint32_t GatherParts(const Read& read) const {
    return OfOthers([&](uint32_t rank) {
      const Block part = PartOfRank(rank);
      return read(rank, part.offset, part.bytes, output + part.offset);
    });
  }

 private:
  static constexpr uint64_t kReducedAtOnce = 64 << 10;  // whole elements of every type

  // From the next rank on, round them: not all read the same one at the same time, and it is the order in which they are combined.
  template <typename Function>
  uint32_t OfOthers(const Function& function) const {
    uint32_t rank = NextRank(shape.rank);
    while (rank != shape.rank && function(rank)) rank = NextRank(rank);
    return rank == shape.rank ? ranks : rank;
  }
  uint32_t NextRank(uint32_t rank) const { return rank + 1 == ranks ? 0 : rank + 1; }
  Block PartOfRank(uint32_t rank) const { return PartOf({0, bytes}, rank, ranks, shape.element_bytes); }
  // Where in what a rank brings this rank's block is.
  uint64_t OffsetOfOwn() const { return shape.what == Collective::kAllGather ? 0 : shape.sends[shape.rank].offset; }
  void ReduceAll(const char* const* slots) const;
  void ReducePart(const char* const* slots, const Block& part, const char* own, char* to) const;
};

}  // namespace ropeway::comm
