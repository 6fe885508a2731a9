// Blocks of one device, or of pinned host memory: hands out addresses of one window of the region, keeps the account of
// reserved bytes, and tells the address map. Free takes effect at once for every later call, but address and bytes stay
// reserved until the work queued at that moment has run.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/fifo_list.h"
#include "base/mutex.h"
#include "engine/engine.h"
#include "engine/shared_pages.h"
#include "memory/address_map.h"
#include "memory/freed_blocks.h"
#include "memory/granule_allocator.h"
#include "memory/range_allocator.h"
#include "memory/reclaimer.h"
#include "stream/fence.h"

namespace ropeway {

struct HeapRequest {
  size_t reserved;  // bytes to account for, a multiple of 32
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
  // The block that was at an address before it was freed, if that was not long ago.
  std::optional<FreedBlock> LastFreed(const void* address);
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

  // A range inside one block that was freed, and was not yet when the free clock (engine/address_judge.h) showed `as_of`; or that is alive.
  bool Reserved(const void* address, size_t size, uint64_t as_of);
  // Takes back what nobody uses any more. True: there is more, which somebody still uses.
  bool ReclaimSome();
  // Whom to ask when something has to wait.
  void set_reclaimer(Reclaimer* reclaimer) { reclaimer_ = reclaimer; }

 protected:
  // Whole chunks begin or end to be used.
  virtual bool Commit(uintptr_t base, size_t size, bool huge_pages);
  virtual void Decommit(uintptr_t base, size_t size);

 private:
  friend struct StateShape;  // api/state_table.cpp
  // What the map says of a block, and what the heap knows of it. A record has one block after the other; all that a free needs is in it.
  struct alignas(64) Record : Block {
    enum class State : uint8_t { kUnused, kLive, kHidden, kRetired };
    uintptr_t base = 0;
    size_t reserved = 0;
    size_t footprint = 0;
    uint64_t freed_at = 0;   // by the free clock; of blocks that are hidden or retired
    Fence fence;             // of retired ones
    Record* next = nullptr;  // in the list that the state says
    State state = State::kUnused;
    bool pooled = false;
    bool shared = false;  // other processes had a hold
    bool lent() const { return state == State::kLive || state == State::kHidden; }
  };
  using RecordList = FifoList<Record, &Record::next>;

  static bool IsSmall(size_t footprint) { return footprint <= kChunkBytes / 2; }
  std::optional<uintptr_t> TakeAddress(size_t footprint, size_t alignment, bool huge_pages) RW_REQUIRES(mutex_);
  std::optional<uintptr_t> TakeSmall(size_t footprint, size_t alignment) RW_REQUIRES(mutex_);
  bool AddSmallChunk() RW_REQUIRES(mutex_);
  void ReturnAddress(uintptr_t base, size_t footprint) RW_REQUIRES(mutex_);
  // The record of the block that begins at an address and that somebody has.
  Record* FindLent(const void* address) const;
  void Conceal(Record& record) RW_REQUIRES(mutex_);
  void Retire(Record& record) RW_REQUIRES(mutex_);
  void Dispose(Record& record) RW_REQUIRES(mutex_);
  void Reclaim() RW_REQUIRES(mutex_);
  void ReclaimShared() RW_REQUIRES(mutex_);
  void ReclaimNowOrLater() RW_REQUIRES(mutex_);
  bool WaitsForSomething() const RW_REQUIRES(mutex_) { return retired_.first() != nullptr || held_elsewhere_.first() != nullptr; }
  void SetMap(const Record& record);
  Record* NewRecord() RW_REQUIRES(mutex_);

  Engine& engine_;
  AddressMap& map_;
  Reclaimer* reclaimer_ = nullptr;
  const uintptr_t window_;
  const size_t window_size_;
  const int device_;
  const size_t capacity_;

  Mutex mutex_{LockRank::kHeap};
  RangeAllocator chunks_ RW_GUARDED_BY(mutex_);                                    // free chunks of the window
  GranuleAllocator granules_ RW_GUARDED_BY(mutex_);                                // free granules of chunks that hold small blocks
  std::set<uintptr_t> shared_chunks_ RW_GUARDED_BY(mutex_);                        // those of which other processes may have some
  std::optional<uintptr_t> idle_chunk_ RW_GUARDED_BY(mutex_);                      // one of which all granules are free
  std::map<uintptr_t, std::shared_ptr<BlockLease>> leases_ RW_GUARDED_BY(mutex_);  // by base; until the block is disposed of
  std::deque<Record> records_ RW_GUARDED_BY(mutex_);                               // never shrinks
  RecordList unused_ RW_GUARDED_BY(mutex_);                                        // last used first: it is still in the cache
  RecordList retired_ RW_GUARDED_BY(mutex_);                                       // oldest first, so in the order of their fences
  RecordList held_elsewhere_ RW_GUARDED_BY(mutex_);  // retired, and nobody here uses them; other processes may
  size_t blocks_ RW_GUARDED_BY(mutex_) = 0;
  size_t charges_ RW_GUARDED_BY(mutex_) = 0;
  size_t bytes_ RW_GUARDED_BY(mutex_) = 0;
  size_t peak_bytes_ RW_GUARDED_BY(mutex_) = 0;
  FreedBlocks freed_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
