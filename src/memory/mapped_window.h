// Addresses behind which pages are put and taken away again: reserved virtual memory, and memory of other processes. To copies it
// is device memory like any other, or pinned host memory when the pages are the host's.
//
// A run of mappings that touch each other and were made for the same owner (one reservation) is one block to copies.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "engine/shared_pages.h"
#include "memory/address_map.h"
#include "memory/range_allocator.h"
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
  // Host code gets, or loses, access to the addresses of a block.
  bool SetHostAccess(uintptr_t block_base, bool host_access);

 private:
  struct Mapped {
    uintptr_t base;  // of the chunks
    size_t size;
    std::vector<PagePiece> pieces;
    Block* record;
    const void* owner;
    bool host_access;
  };
  struct Retired {
    Fence fence;
    Mapped mapped;           // nothing to unmap when it has no pieces
    uintptr_t release_base;  // addresses that become free; none when the size is 0
    size_t release_size;
    bool Touches(uintptr_t base, size_t size) const;
  };
  bool MapPieces(uintptr_t base, const std::vector<PagePiece>& pieces, bool host_access);
  void Retire(std::map<uintptr_t, Mapped>::iterator it);
  bool Retiring(uintptr_t base, size_t size) const;
  // Finishes what the fences have let go; and what touches [base, base + size), whether or not.
  void Reclaim(uintptr_t base = 0, size_t size = 0);
  void Finish(Retired& entry);
  void Hide(const Mapped& mapped);

  Engine* engine_ = nullptr;
  AddressMap map_;
  mutable std::mutex mutex_;
  RangeAllocator free_;                 // this and the rest guarded by mutex_
  std::map<uintptr_t, Mapped> mapped_;  // by the base of the block
  std::vector<Retired> retired_;
  std::deque<Block> records_;
  std::vector<Block*> unused_records_;
};

}  // namespace ropeway
