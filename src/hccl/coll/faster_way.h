// How blocks of middling size reach another process of this host faster: through a slot, which is two copies by the ranks' own hands, or by
// the kernel, one copy from where they lie. That is up to what caches the ranks' cores have in common, to the kernel, and to how many ranks
// read a slot while it is hot: either can take half of the other's time. So both are tried a few times, and the shortest times decide, by
// size; after a thousand both are tried again, since threads, and the cores of virtual machines, move. Every rank chooses for what it
// brings; nobody has to agree.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "hccl/coll/board_work.h"

namespace ropeway::comm {

class FasterWay {
 public:
  enum Way : uint8_t { kSlot, kInPlace };
  // Ranks that have done the same try the same.
  Way For(uint64_t block_bytes) const {
    const auto& [slot, in_place] = sizes_[std::bit_width(block_bytes)].tried;
    if (slot.times < kTries || in_place.times < kTries) return slot.times < in_place.times ? kSlot : kInPlace;
    return slot.least_ns <= in_place.least_ns ? kSlot : kInPlace;
  }
  // What the rank's own thread has spent on one such collective.
  void Took(uint64_t block_bytes, Way way, int64_t ns) {
    Size& size = sizes_[std::bit_width(block_bytes)];
    if (++size.uses > kUses) size = {};
    Tried& tried = size.tried[way];
    ++tried.times;
    tried.least_ns = std::min(tried.least_ns, ns);
  }

 private:
  // A rank that loses its core in one of them has others.
  static constexpr int kTries = 8;
  static constexpr int kUses = 1000;
  struct Tried {
    int times = 0;
    int64_t least_ns = INT64_MAX;
  };
  struct Size {
    std::array<Tried, 2> tried;
    int uses = 0;
  };

  std::array<Size, std::bit_width(kBoardBytes) + 1> sizes_;  // by powers of two
};

}  // namespace ropeway::comm
