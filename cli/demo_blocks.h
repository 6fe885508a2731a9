// Blocks of two areas paired at random, as the block tables of a cache are: which block of the source goes to which
// block of the destination. Half of the blocks take part, so that a check can see that the others stay as they are.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "cli/demo_paths.h"

namespace ropeway::cli {

class BlockPairs {
 public:
  static constexpr size_t kBlock = 16 << 10;
  static constexpr size_t kCount = DemoMemory::kSize / kBlock / 2;
  static constexpr size_t kBytes = kCount * kBlock;

  explicit BlockPairs(uint32_t seed) : dst_slots_(Shuffled(seed)), src_slots_(Shuffled(seed + 1)) {}

  size_t dst_offset(size_t i) const { return dst_slots_[i] * kBlock; }
  size_t src_offset(size_t i) const { return src_slots_[i] * kBlock; }

  void CopyRaw(const Area& dst, const Area& src) const {
    for (size_t i = 0; i < kCount; ++i) std::memcpy(dst.bytes + dst_offset(i), src.bytes + src_offset(i), kBlock);
  }
  // Of a destination that was pulled.
  bool SameBlock(size_t i, const Area& dst, const Area& src) const {
    return std::memcmp(dst.bytes + dst_offset(i), src.bytes + src_offset(i), kBlock) == 0;
  }
  // Every pair arrived, and no byte of the destination beside them was written.
  bool Arrived(const Area& dst, const Area& src) const {
    Pull(dst);
    for (size_t i = 0; i < kCount; ++i) {
      if (!SameBlock(i, dst, src)) return false;
    }
    return RestIsUntouched(dst);
  }
  bool RestIsUntouched(const Area& dst) const {
    return std::all_of(dst_slots_.begin() + kCount, dst_slots_.end(), [&](size_t slot) {
      return AllBytes({nullptr, dst.bytes + slot * kBlock, kBlock}, kUntouched);
    });
  }

 private:
  // All blocks of an area; the first kCount of them take part.
  static std::vector<size_t> Shuffled(uint32_t seed) {
    std::vector<size_t> slots(2 * kCount);
    std::iota(slots.begin(), slots.end(), size_t{0});
    std::shuffle(slots.begin(), slots.end(), std::mt19937(seed));
    return slots;
  }

  std::vector<size_t> dst_slots_;
  std::vector<size_t> src_slots_;
};

}  // namespace ropeway::cli
