// Which block an address belongs to, in a handful of instructions and without a lock.
//
// A region is a contiguous range of addresses, cut into chunks of 2 MiB. A chunk belongs to one large block, or it is cut
// further into granules of 512 bytes, each of which belongs to one small block. So a lookup is one table read for large
// blocks and two for small ones.
//
// Every entry holds two things: the end of the block, one word that answers "how far may a copy go", and the block's
// record for those who want to know more. A reader that races with a free sees the one or the other state of an entry,
// never a mixture.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/block.h"

namespace ropeway {

inline constexpr size_t kChunkBytes = size_t{2} << 20;
inline constexpr size_t kGranuleBytes = 512;
inline constexpr size_t WholeChunks(size_t bytes) { return bytes / kChunkBytes * kChunkBytes; }

class AddressMap {
 public:
  // False when the process has no room for the tables.
  bool Init(void* base, size_t size);

  bool Contains(const void* address) const { return Offset(address) < size_; }
  uintptr_t base() const { return base_; }
  size_t size() const { return size_; }

  // Bytes from `address`, which must be inside the region, to the end of its block; not positive when it lies in none.
  // Inline, whatever else is compiled beside it: every copy asks twice.
  [[gnu::always_inline]] ptrdiff_t RoomAt(const void* address) const {
    const size_t offset = Offset(address);
    uintptr_t end = ends_[offset / kChunkBytes].load(std::memory_order_acquire);
    if ((end & kIsTable) != 0) end = TableOf(end)->at[GranuleOf(offset)].end.load(std::memory_order_acquire);
    return static_cast<ptrdiff_t>(end - reinterpret_cast<uintptr_t>(address));
  }

  // The block that `address` lies in; not found when there is none. `address` must be inside the region.
  BlockInfo Find(const void* address) const;

  // Writers are serialised by the caller. The range is whole chunks, or whole granules of small chunks; a null block
  // clears it.
  void SetChunks(uintptr_t base, size_t bytes, const Block* block);
  // Throws when there is no memory for the tables of these chunks, which PrepareGranules makes ahead.
  void SetGranules(uintptr_t base, size_t bytes, const Block* block);
  void PrepareGranules(uintptr_t chunk) { MakeTable((chunk - base_) / kChunkBytes); }
  // No copy goes here any more, but the records stay, for those who want to know what was here. Whole chunks, or granules of one.
  void Close(uintptr_t base, size_t bytes);
  // The record that was set last at an address. Its block may end before the address, or be another one by now.
  Block* RecordAt(uintptr_t address) const;

 private:
  static constexpr uintptr_t kIsTable = 1;  // ends are multiples of 32
  struct Granule {                          // side by side: who frees a block wants both
    std::atomic<uintptr_t> end;
    std::atomic<const Block*> block;
  };
  struct Granules {
    Granule at[kChunkBytes / kGranuleBytes];
  };
  size_t Offset(const void* address) const { return reinterpret_cast<uintptr_t>(address) - base_; }
  static size_t GranuleOf(size_t offset) { return offset % kChunkBytes / kGranuleBytes; }
  static Granules* TableOf(uintptr_t entry) { return reinterpret_cast<Granules*>(entry & ~kIsTable); }
  Granules* MakeTable(size_t chunk);

  uintptr_t base_ = 0;
  size_t size_ = 0;
  std::atomic<uintptr_t>* ends_ = nullptr;  // one per chunk: an end, or a table of granules
  std::atomic<const Block*>* blocks_ = nullptr;
};

}  // namespace ropeway
