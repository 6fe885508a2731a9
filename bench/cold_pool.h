// Memory that is cold whenever it is copied: a pinned pool and a device pool, each larger than the last-level cache,
// walked so that a block comes round again only after everything else went through the cache. Raw copies use the same
// bytes (through the host view of the device pool), so that page sizes and placement are alike for everybody.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/acl_objects.h"

namespace ropeway::bench {

// Words that differ from place to place.
inline void FillPattern(uint8_t* bytes, size_t size_bytes, uint64_t seed) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  size_t at = 0;
  for (; at + sizeof(x) <= size_bytes; at += sizeof(x)) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes + at, &x, sizeof(x));
  }
  for (; at < size_bytes; ++at) bytes[at] = static_cast<uint8_t>(seed + at);
}

class ColdPool {
 public:
  // Both pools are touched here: first touch is an order of magnitude slower than a copy.
  explicit ColdPool(size_t size_bytes) : host_(size_bytes), device_(size_bytes) {
    FillPattern(host_.data(), size_bytes, 1);
    Clear();
  }

  size_t size() const { return host_.size(); }
  const uint8_t* host(size_t offset) const { return host_.at(offset); }
  uint8_t* host(size_t offset) { return host_.at(offset); }
  void* device(size_t offset) const { return device_.at(offset); }
  uint8_t* view(size_t offset) const { return device_.view() + offset; }

  // From now on Next() walks blocks of this size, one behind the other or scattered over the pool.
  void WalkInOrder(size_t block_bytes) {
    offsets_.resize(size() / block_bytes);
    for (size_t i = 0; i < offsets_.size(); ++i) offsets_[i] = i * block_bytes;
    next_ = 0;
  }
  void WalkScattered(size_t block_bytes) {
    WalkInOrder(block_bytes);
    std::shuffle(offsets_.begin(), offsets_.end(), std::mt19937(7));
  }
  size_t Next() {
    const size_t offset = offsets_[next_];
    if (++next_ == offsets_.size()) next_ = 0;
    return offset;
  }
  void Rewind() { next_ = 0; }

  // Makes sure that `copy_blocks`, which copies the next `count` blocks from host to device, really does it.
  template <typename CopyBlocks>
  void Verify(const char* workload, size_t count, size_t block_bytes, CopyBlocks copy_blocks) {
    Clear();
    Rewind();
    copy_blocks();
    Rewind();
    for (size_t i = 0; i < count; ++i) {
      const size_t offset = Next();
      if (std::memcmp(host(offset), view(offset), block_bytes) != 0) {
        throw std::runtime_error(std::string(workload) + ": block " + std::to_string(i) + " arrived with other bytes");
      }
    }
  }

 private:
  void Clear() { std::memset(device_.view(), 0, device_.size()); }

  cli::PinnedBlock host_;
  cli::DeviceBlock device_;
  std::vector<size_t> offsets_;
  size_t next_ = 0;
};

}  // namespace ropeway::bench
