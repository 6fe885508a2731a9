#include "memory/address_map.h"

#include <sys/mman.h>

#include <new>

namespace ropeway {
namespace {

// Zero pages that appear on first touch: every entry starts as null.
void* ReserveTable(size_t bytes) {
  void* table = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return table == MAP_FAILED ? nullptr : table;
}

uintptr_t EndOf(const Block* block) { return block == nullptr ? 0 : block->Read().end(); }

}  // namespace

bool AddressMap::Init(void* base, size_t size) {
  const size_t chunks = size / kChunkBytes;
  ends_ = static_cast<std::atomic<uintptr_t>*>(ReserveTable(chunks * sizeof(ends_[0])));
  blocks_ = static_cast<std::atomic<const Block*>*>(ReserveTable(chunks * sizeof(blocks_[0])));
  base_ = reinterpret_cast<uintptr_t>(base);
  size_ = size;
  return ends_ != nullptr && blocks_ != nullptr;
}

BlockInfo AddressMap::Find(const void* address) const {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  const Block* block = RecordAt(bits);
  if (block == nullptr) return BlockInfo();
  // The bytes between the block's end and the end of its last granule or chunk belong to nobody.
  const BlockInfo info = block->Read();
  return bits - info.base < info.size ? info : BlockInfo();
}

void AddressMap::SetChunks(uintptr_t base, size_t bytes, const Block* block) {
  const uintptr_t end = EndOf(block);
  const size_t first = (base - base_) / kChunkBytes;
  for (size_t chunk = first; chunk < first + bytes / kChunkBytes; ++chunk) {
    const uintptr_t entry = ends_[chunk].load(std::memory_order_relaxed);
    if ((entry & kIsTable) != 0) {
      // A chunk that once held small blocks keeps its table, so that late readers never look at freed memory.
      SetGranules(base_ + chunk * kChunkBytes, kChunkBytes, block);
      continue;
    }
    blocks_[chunk].store(block, std::memory_order_release);
    ends_[chunk].store(end, std::memory_order_release);
  }
}

AddressMap::Granules* AddressMap::MakeTable(size_t chunk) {
  const uintptr_t entry = ends_[chunk].load(std::memory_order_relaxed);
  if ((entry & kIsTable) != 0) return TableOf(entry);
  auto* table = static_cast<Granules*>(ReserveTable(sizeof(Granules)));
  if (table == nullptr) throw std::bad_alloc();
  ends_[chunk].store(reinterpret_cast<uintptr_t>(table) | kIsTable, std::memory_order_release);
  return table;
}

void AddressMap::SetGranules(uintptr_t base, size_t bytes, const Block* block) {
  const uintptr_t end = EndOf(block);
  const size_t offset = base - base_;
  for (size_t at = offset; at < offset + bytes; at += kGranuleBytes) {
    Granule& granule = MakeTable(at / kChunkBytes)->at[GranuleOf(at)];
    granule.block.store(block, std::memory_order_release);
    granule.end.store(end, std::memory_order_release);
  }
}

void AddressMap::Close(uintptr_t base, size_t bytes) {
  for (size_t at = base - base_; at < base - base_ + bytes;) {
    std::atomic<uintptr_t>& entry = ends_[at / kChunkBytes];
    const uintptr_t table = entry.load(std::memory_order_relaxed);
    if ((table & kIsTable) != 0) {
      TableOf(table)->at[GranuleOf(at)].end.store(0, std::memory_order_release);
      at += kGranuleBytes;
    } else {
      entry.store(0, std::memory_order_release);
      at += kChunkBytes;
    }
  }
}

Block* AddressMap::RecordAt(uintptr_t address) const {
  const size_t offset = address - base_;
  const uintptr_t entry = ends_[offset / kChunkBytes].load(std::memory_order_acquire);
  const Block* block = (entry & kIsTable) != 0 ? TableOf(entry)->at[GranuleOf(offset)].block.load(std::memory_order_acquire)
                                               : blocks_[offset / kChunkBytes].load(std::memory_order_acquire);
  return const_cast<Block*>(block);
}

}  // namespace ropeway
