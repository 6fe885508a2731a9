// Memory for the chunks that UCX is given. Kept between uses: blocks of this size come back from malloc as fresh pages again and
// again, which halves the speed of large transfers. One thread only.
#pragma once

#include <memory>
#include <vector>

#include "hccl/link/ucx_wire.h"

namespace ropeway::comm {

using Chunk = std::unique_ptr<char[]>;

class ChunkPool {
 public:
  // kChunkBytes, uninitialised.
  Chunk Take() {
    if (spare_.empty()) return std::make_unique_for_overwrite<char[]>(kChunkBytes);
    Chunk chunk = std::move(spare_.back());  // the last one used is the one in the caches
    spare_.pop_back();
    return chunk;
  }
  void Give(Chunk chunk) {
    if (spare_.size() < kMost) spare_.push_back(std::move(chunk));
  }

 private:
  static constexpr size_t kMost = 64;  // 4 MiB stay
  std::vector<Chunk> spare_;
};

}  // namespace ropeway::comm
