// Blocks of one device, or of pinned host memory: hands out addresses of one window of the region, keeps the account of
// reserved bytes, and tells the address map. Free takes effect at once for every later call, but address and bytes stay
// reserved until the work queued at that moment has run.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "engine/engine.h"
#include "engine/shared_pages.h"
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
  void* pool = nullptr;  // handle of the pool that it is for, which alone gives it back
};

// The hold that other processes have on a block: as long as somebody but the heap has one, its addresses are not used again.
struct BlockLease {
  std::atomic<bool> freed{false};
};

// A block as other processes get it.
struct SharedBlock {
  PagePiece piece;
  size_t offset;  // of the address in the piece
  std::shared_ptr<BlockLease> lease;
};

class Heap {
 public:
  // `capacity`: how many bytes may be reserved in all; the window is larger, because addresses are rounded.
  Heap(Engine& engine, AddressMap& map, uintptr_t window, size_t window_size, size_t capacity, int device);
  virtual ~Heap() = default;

  // The address of a new block; nothing when the capacity or the window is used up.
  std::optional<void*> Allocate(const HeapRequest& request);
  // False when `address` is not the start of a live block, or one that a pool has and it was not the pool that asked.
  bool Free(void* address, bool by_pool = false);
  // Makes [address, address + size), which lies inside one live block, ready for other processes. Nothing: it does not lie in one, or
  // there is no memory.
  std::optional<SharedBlock> Share(const void* address, size_t size);
  // Frees everything that is alive.
  void FreeAll();
  // Memory that has no address here but counts here: physical memory. False when the capacity is used up.
  bool Charge(size_t bytes);
  void Refund(size_t bytes);

  struct Usage {
    size_t blocks, bytes, peak_bytes, capacity;
  };
  Usage usage();

  // A block of a pool, which must be alive, while nobody has it: no lookup finds it, and it stays accounted for. Then the next
  // user, from whom on it is the block that `call` made.
  void Hide(void* address);
  void Show(void* address, const char* call, const void* caller);

 protected:
  // Whole chunks begin or end to be used.
  virtual bool Commit(uintptr_t base, size_t size, bool huge_pages);
  virtual void Decommit(uintptr_t base, size_t size);

 private:
  struct Live {
    size_t footprint;
    Block* record;
    bool pooled;
    bool hidden;
  };
  struct Retired {
    Fence fence;
    uintptr_t base;
    size_t footprint;
    Block* record;
    std::shared_ptr<BlockLease> lease;  // null: nobody else ever had a hold
    bool Unused() { return fence.Passed() && (lease == nullptr || lease.use_count() == 1); }
  };
  static bool IsSmall(size_t footprint) { return footprint <= kChunkBytes / 2; }
  std::optional<uintptr_t> TakeAddress(size_t footprint, size_t alignment);
  void ReturnAddress(uintptr_t base, size_t footprint);
  void Retire(std::map<uintptr_t, Live>::iterator it);
  std::shared_ptr<BlockLease> EndLease(uintptr_t base);
  void Reclaim();
  void SetMap(uintptr_t base, size_t footprint, const Block* block);
  Block* NewRecord();

  Engine& engine_;
  AddressMap& map_;
  const int device_;
  const size_t capacity_;

  std::mutex mutex_;
  RangeAllocator chunks_;    // free chunks of the window
  RangeAllocator granules_{kChunkBytes};  // free granules of chunks that hold small blocks
  std::set<uintptr_t> shared_chunks_;     // those of which other processes may have some
  std::set<uintptr_t> idle_chunks_;       // those of which all granules are free
  std::map<uintptr_t, Live> live_;  // by base
  std::map<uintptr_t, std::shared_ptr<BlockLease>> leases_;  // by base, of live blocks
  std::deque<Block> records_;       // never shrinks
  std::vector<Block*> unused_records_;
  std::vector<Retired> retired_;
  size_t charges_ = 0;
  size_t bytes_ = 0;
  size_t peak_bytes_ = 0;
};

}  // namespace ropeway
