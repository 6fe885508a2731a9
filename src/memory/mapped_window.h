// Addresses behind which pages are put and taken away again: reserved virtual memory, and memory of other processes. To copies it
// is device memory like any other, or pinned host memory when the pages are the host's.
//
// A run of mappings that touch each other and were made for the same owner (one reservation) is one block to copies.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "engine/address_judge.h"
#include "engine/engine.h"
#include "engine/shared_pages.h"
#include "memory/address_map.h"
#include "memory/range_allocator.h"
#include "memory/reclaimer.h"
#include "stream/fence.h"

namespace ropeway {

class MappedWindow {
 public:
  bool Init(Engine& engine, void* base, size_t size);
  bool Contains(const void* address) const { return map_.Contains(address); }
  // The block behind an address; as a run, extended by the mappings of the same owner that follow it without a gap, until `count`
  // bytes fit. Takes no lock when they fit into the one block.
  BlockInfo Find(const void* address) const { return map_.Find(address); }
  BlockInfo FindRun(const void* address, size_t count) const;

  // Addresses, whole chunks: anywhere, or exactly there. Nothing when there is no room, or it is taken.
  std::optional<uintptr_t> Reserve(size_t size, size_t alignment);
  bool ReserveAt(uintptr_t base, size_t size);
  // Gives addresses back once the work that is queued now has run, and their mappings with them; at once when nothing was mapped.
  void Release(uintptr_t base, size_t size);
  // Waits for work that may still use what was mapped here before; for those who want to use the addresses again. If it stands
  // still, waiting is given up, and what comes of it finds the new pages, as the address says. Not under a lock.
  void AwaitUnused(uintptr_t base, size_t size);

  // Puts the pieces, one behind the other, at `base`; `block` says what copies find there (inside these chunks), `owner` which
  // blocks belong together. False when the system refuses.
  bool Map(uintptr_t base, const std::vector<PagePiece>& pieces, const BlockInfo& block, const void* owner, bool host_access);
  // The block is gone for every later call; its pages go once the work that is queued now has run. False: none starts there.
  bool Unmap(uintptr_t block_base);
  // Where a range is that lies in one block, unmapped after the free clock showed `as_of`.
  AddressJudge::Verdict Reserved(const void* address, size_t size, uint64_t as_of) const;
  // Takes back what nobody uses any more. True: there is more, which somebody still uses.
  bool ReclaimSome();
  void set_reclaimer(Reclaimer* reclaimer) { reclaimer_ = reclaimer; }
  // Host code gets, or loses, access to the addresses of a block.
  bool SetHostAccess(uintptr_t block_base, bool host_access);
  // Why the engine did not map what it was last asked to, told once.
  EngineMemory::Refusal TakeRefusal() { return engine_->memory().TakeRefusal(); }

 private:
  // Pages that are mapped, or addresses that are reserved; the entry is made then, so that giving up needs no memory.
  struct Entry {
    uintptr_t base = 0;  // of the chunks
    size_t size = 0;
    std::vector<PagePiece> pieces;  // none: only the addresses become free
    Block record;
    const void* owner = nullptr;
    bool host_access = false;
    Fence fence;            // when retired
    uint64_t freed_at = 0;  // by the free clock, when retired
    bool Touches(uintptr_t from, size_t bytes) const { return base < from + bytes && from < base + size; }
  };
  using Entries = std::list<Entry>;
  bool MapPieces(uintptr_t base, const std::vector<PagePiece>& pieces, bool host_access);
  void Retire(std::map<uintptr_t, Entries::iterator>::iterator it) RW_REQUIRES(mutex_);
  void KeepUnused(size_t count) RW_REQUIRES(mutex_);
  bool Retiring(uintptr_t base, size_t size) const RW_REQUIRES(mutex_);
  // Finishes what the fences have let go; and what touches [base, base + size), whether or not.
  void Reclaim(uintptr_t base = 0, size_t size = 0) RW_REQUIRES(mutex_);
  void Finish(Entries::iterator entry) RW_REQUIRES(mutex_);

  Engine* engine_ = nullptr;
  Reclaimer* reclaimer_ = nullptr;
  AddressMap map_;
  mutable Mutex mutex_{LockRank::kMappedWindow};
  RangeAllocator free_ RW_GUARDED_BY(mutex_);
  std::map<uintptr_t, Entries::iterator> mapped_ RW_GUARDED_BY(mutex_);  // by the base of the block
  Entries entries_ RW_GUARDED_BY(mutex_);                                // those of mapped_
  Entries retired_ RW_GUARDED_BY(mutex_);                                // oldest first
  Entries unused_ RW_GUARDED_BY(mutex_);  // at least one for each range that is reserved; never freed, a late reader may look at the record
  size_t reserved_ RW_GUARDED_BY(mutex_) = 0;  // ranges
};

}  // namespace ropeway
