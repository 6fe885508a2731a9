// The blocks that were freed last, for messages to whoever still uses one.
#pragma once

#include <array>
#include <optional>

#include "base/call_site.h"
#include "memory/block.h"

namespace ropeway {

struct FreedBlock {
  BlockInfo block;
  CallSite by;
};

class FreedBlocks {
 public:
  // By the call that this thread is in.
  void Add(const BlockInfo& block) { ring_[next_++ % kKept] = {block, {ProgramCaller(t_call_site.caller), t_call_site.call}}; }
  // The last one that had the address.
  std::optional<FreedBlock> Find(const void* address) const {
    const auto bits = reinterpret_cast<uintptr_t>(address);
    for (size_t back = 1; back <= kKept && back <= next_; ++back) {
      const FreedBlock& freed = ring_[(next_ - back) % kKept];
      if (bits - freed.block.base < freed.block.size) return freed;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kKept = 128;
  std::array<FreedBlock, kKept> ring_{};
  size_t next_ = 0;
};

}  // namespace ropeway
