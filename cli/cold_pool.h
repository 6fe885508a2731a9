// Memory that is cold whenever it is copied: a source and a device pool, each larger than the last-level cache, walked
// so that a block comes round again only after everything else went through the cache. Raw copies use the same bytes
// (through the host view of the device pool), so that page sizes and placement are alike for everybody. The view is asked for when
// they do: memory that has one keeps its copies in order.
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

namespace ropeway::cli {

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

// Reads a word of every line.
inline uint64_t SumOfLines(const uint8_t* bytes, size_t size_bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < size_bytes; i += 64) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof(word));
    sum += word;
  }
  return sum;
}

// What the host does to either kind of memory.
inline void PutBytes(const PinnedBlock& block, size_t offset, const uint8_t* bytes, size_t size) {
  std::memcpy(block.at(offset), bytes, size);
}
inline void PutBytes(const DeviceBlock& block, size_t offset, const uint8_t* bytes, size_t size) {
  RW_ACL(aclrtMemcpy(block.at(offset), size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
}
inline std::vector<uint8_t> BytesOf(const PinnedBlock& block, size_t offset, size_t size) {
  return {static_cast<const uint8_t*>(block.at(offset)), static_cast<const uint8_t*>(block.at(offset)) + size};
}
inline std::vector<uint8_t> BytesOf(const DeviceBlock& block, size_t offset, size_t size) {
  std::vector<uint8_t> bytes(size);
  RW_ACL(aclrtMemcpy(bytes.data(), size, block.at(offset), size, ACL_MEMCPY_DEVICE_TO_HOST));
  return bytes;
}

// What the pools share: a source and a target of either kind, and the walk over both.
template <typename Source, typename Target>
class ColdPair {
 public:
  // Both sides are touched here: first touch is an order of magnitude slower than a copy.
  explicit ColdPair(size_t size_bytes) : source_(size_bytes), target_(size_bytes) {
    std::vector<uint8_t> piece(std::min(size_bytes, size_t{16} << 20));
    for (size_t at = 0; at < size_bytes; at += piece.size()) {
      FillPattern(piece.data(), piece.size(), 1 + at);
      PutBytes(source_, at, piece.data(), std::min(piece.size(), size_bytes - at));
    }
    Clear();
  }

  size_t size() const { return source_.size(); }
  void* source(size_t offset) const { return source_.at(offset); }
  void* target(size_t offset) const { return target_.at(offset); }
  const uint8_t* source_view(size_t offset) const { return source_.view() + offset; }
  uint8_t* target_view(size_t offset) const { return target_.view() + offset; }

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
  void Skip(size_t blocks) { next_ = (next_ + blocks) % offsets_.size(); }

  // Makes sure that `copy_blocks`, which copies the next `count` blocks from source to target, really does it.
  template <typename CopyBlocks>
  void Verify(const char* workload, size_t count, size_t block_bytes, CopyBlocks copy_blocks) {
    Clear();
    Rewind();
    copy_blocks();
    Rewind();
    for (size_t i = 0; i < count; ++i) {
      const size_t offset = Next();
      if (BytesOf(source_, offset, block_bytes) != BytesOf(target_, offset, block_bytes)) {
        throw std::runtime_error(std::string(workload) + ": block " + std::to_string(i) + " arrived with other bytes");
      }
    }
  }

 protected:
  Source source_;
  Target target_;

 private:
  void Clear() { RW_ACL(aclrtMemset(target_.at(0), target_.size(), 0, target_.size())); }

  std::vector<size_t> offsets_;
  size_t next_ = 0;
};

// Between pinned and device memory.
class ColdPool : public ColdPair<PinnedBlock, DeviceBlock> {
 public:
  using ColdPair::ColdPair;

  const uint8_t* host(size_t offset) const { return source_.at(offset); }
  uint8_t* host(size_t offset) { return source_.at(offset); }
  void* device(size_t offset) const { return target_.at(offset); }
  uint8_t* view(size_t offset) const { return target_.view() + offset; }
};

// The other way round, and inside the device.
using ColdReadPool = ColdPair<DeviceBlock, PinnedBlock>;
using ColdDevicePool = ColdPair<DeviceBlock, DeviceBlock>;

}  // namespace ropeway::cli
