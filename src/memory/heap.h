// Blocks of one device, or of pinned host memory: hands out addresses of one window of the region, keeps the account of
// reserved bytes, and tells the address map. Free takes effect at once for every later call, but address and bytes stay
// reserved until the work queued at that moment has run.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "memory/address_map.h"
#include "memory/range_allocator.h"
#include "stream/fence.h"

namespace ropeway {

struct HeapRequest {
  size_t reserved;       // bytes to account for, a multiple of 32
  size_t alignment = kGranuleBytes;
  bool huge_pages = false;
  uint32_t page_size = 4096;
  const char* call = "";
  const void* caller = nullptr;
};

class Heap {
 public:
  // `capacity`: how many bytes may be reserved in all; the window is larger, because addresses are rounded.
  Heap(Engine& engine, AddressMap& map, uintptr_t window, size_t window_size, size_t capacity, int device);

  // The address of a new block; nothing when the capacity or the window is used up.
  std::optional<void*> Allocate(const HeapRequest& request);
  // False when `address` is not the start of a live block.
  bool Free(void* address);
  // Frees everything that is alive.
  void FreeAll();

  struct Usage {
    size_t blocks, bytes, peak_bytes, capacity;
  };
  Usage usage();

 private:
  struct Retired {
    Fence fence;
    uintptr_t base;
    size_t footprint;
    Block* record;
  };
  static bool IsSmall(size_t footprint) { return footprint <= kChunkBytes / 2; }
  std::optional<uintptr_t> TakeAddress(size_t footprint, size_t alignment);
  void ReturnAddress(uintptr_t base, size_t footprint);
  void Retire(uintptr_t base);
  void Reclaim();
  void SetMap(uintptr_t base, size_t footprint, const Block* block);
  Block* NewRecord();

  Engine& engine_;
  AddressMap& map_;
  const int device_;
  const size_t capacity_;

  std::mutex mutex_;
  RangeAllocator chunks_;    // free chunks of the window
  RangeAllocator granules_;  // free granules of chunks that hold small blocks
  std::map<uintptr_t, size_t> live_;  // base -> footprint
  std::deque<Block> records_;         // never shrinks
  std::vector<Block*> unused_records_;
  std::vector<Retired> retired_;
  size_t bytes_ = 0;
  size_t peak_bytes_ = 0;
};

}  // namespace ropeway
