// Hands out runs of granules for small blocks. Every chunk has a bitmap of its free granules, so giving a run back is a matter of a few
// bits, whatever else is free; and chunks are sorted into bins by the longest run that they may have, so that a run is found without
// looking at all of them. Callers serialise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "memory/address_map.h"

namespace ropeway {

class GranuleAllocator {
 public:
  // A chunk of which all granules are free. Throws without effect when there is no memory.
  void AddChunk(uintptr_t base);
  // Takes a chunk back, of which all granules are free.
  void RemoveChunk(uintptr_t base) noexcept;

  // `thorough`: looks at every chunk that might do, and not at a few of them only. `size` is in whole granules and fits a chunk.
  std::optional<uintptr_t> Take(size_t size, size_t alignment, bool thorough) noexcept;
  // True: all granules of the chunk are free now.
  bool Return(uintptr_t base, size_t size) noexcept;

 private:
  static constexpr size_t kGranules = kChunkBytes / kGranuleBytes;
  static constexpr size_t kWords = kGranules / 64;
  static constexpr int kBins = 13;  // by the logarithm of the longest run

  struct Chunk {
    explicit Chunk(uintptr_t at) : base(at) { free.fill(~uint64_t{0}); }
    const uintptr_t base;
    std::array<uint64_t, kWords> free;  // one bit each, 1: free
    size_t free_count = kGranules;
    size_t longest = kGranules;  // no run is longer; it may be that none is as long
    Chunk* before = nullptr;     // in its bin
    Chunk* next = nullptr;
  };

  static int BinOf(size_t run);
  static size_t FindRun(Chunk& chunk, size_t count, size_t alignment);
  static size_t RunAround(const Chunk& chunk, size_t first, size_t count);
  static void Mark(Chunk& chunk, size_t first, size_t count, bool free);
  std::optional<uintptr_t> TakeFrom(Chunk& chunk, size_t count, size_t alignment);
  void Link(Chunk& chunk);
  void Unlink(Chunk& chunk);
  void SetLongest(Chunk& chunk, size_t longest);

  std::unordered_map<uintptr_t, std::unique_ptr<Chunk>> chunks_;  // by base
  std::array<Chunk*, kBins> bins_ = {};                           // full chunks are in none
};

}  // namespace ropeway
