#include "memory/heap.h"

#include <algorithm>

#include "base/bytes.h"
#include "engine/watcher.h"

namespace ropeway {
namespace {

BlockSight SightOf(const BlockInfo& info) { return {reinterpret_cast<void*>(info.base), info.size, info.device, info.call}; }

}  // namespace

Heap::Heap(Engine& engine, AddressMap& map, uintptr_t window, size_t window_size, size_t capacity, int device)
    : engine_(engine), map_(map), device_(device), capacity_(capacity) {
  chunks_.Add(window, window_size);
}

bool Heap::Commit(uintptr_t base, size_t size, bool huge_pages) {
  return engine_.memory().Commit(reinterpret_cast<void*>(base), size, huge_pages);
}

void Heap::Decommit(uintptr_t base, size_t size) { engine_.memory().Decommit(reinterpret_cast<void*>(base), size); }

std::optional<void*> Heap::Allocate(const HeapRequest& request) {
  std::lock_guard lock(mutex_);
  Reclaim();
  if (request.reserved > capacity_ - bytes_) return std::nullopt;
  const size_t in_granules = RoundUp(request.reserved, kGranuleBytes);
  const size_t footprint = IsSmall(in_granules) ? in_granules : RoundUp(request.reserved, kChunkBytes);
  std::optional<uintptr_t> base = TakeAddress(footprint, request.alignment);
  if (!base) return std::nullopt;
  if (!IsSmall(footprint) && !Commit(*base, footprint, request.huge_pages)) {
    chunks_.Add(*base, footprint);
    return std::nullopt;
  }
  Block* record = NewRecord();
  const BlockInfo info{*base, request.reserved, device_, request.page_size, request.call, request.caller, request.pool};
  record->Describe(info);
  SetMap(*base, footprint, record);
  live_.emplace(*base, Live{footprint, record, request.pool != nullptr, false});
  bytes_ += request.reserved;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  if (Watcher* watcher = ActiveWatcher()) watcher->Allocated(SightOf(info));
  return reinterpret_cast<void*>(*base);
}

std::optional<uintptr_t> Heap::TakeAddress(size_t footprint, size_t alignment) {
  if (!IsSmall(footprint)) return chunks_.Take(footprint, std::max(alignment, kChunkBytes));
  if (auto base = granules_.Take(footprint, alignment)) {
    idle_chunks_.erase(*base / kChunkBytes * kChunkBytes);
    return base;
  }
  std::optional<uintptr_t> chunk = chunks_.Take(kChunkBytes, kChunkBytes);
  if (!chunk) return std::nullopt;
  if (!Commit(*chunk, kChunkBytes, false)) {
    chunks_.Add(*chunk, kChunkBytes);
    return std::nullopt;
  }
  granules_.Add(*chunk, kChunkBytes);
  return granules_.Take(footprint, alignment);
}

void Heap::ReturnAddress(uintptr_t base, size_t footprint) {
  if (!IsSmall(footprint)) {
    Decommit(base, footprint);
    chunks_.Add(base, footprint);
    return;
  }
  const auto [free_base, free_size] = granules_.Add(base, footprint);
  if (free_size != kChunkBytes) return;
  // Chunks without any small block left go back, all but one: a program that allocates and frees one small block at a time should
  // not pay for a fresh page each time. A chunk that other processes have seen is not for new blocks.
  const bool shared = shared_chunks_.erase(free_base) != 0;
  if (!shared && idle_chunks_.empty()) {
    idle_chunks_.insert(free_base);
    return;
  }
  granules_.Remove(free_base, kChunkBytes);
  Decommit(free_base, kChunkBytes);
  chunks_.Add(free_base, kChunkBytes);
}

void Heap::SetMap(uintptr_t base, size_t footprint, const Block* block) {
  if (IsSmall(footprint)) {
    map_.SetGranules(base, footprint, block);
  } else {
    map_.SetChunks(base, footprint, block);
  }
}

Block* Heap::NewRecord() {
  if (unused_records_.empty()) return &records_.emplace_back();
  Block* record = unused_records_.back();
  unused_records_.pop_back();
  return record;
}

void Heap::Retire(std::map<uintptr_t, Live>::iterator it) {
  const auto [base, block] = *it;
  const BlockInfo info = block.record->Read();
  SetMap(base, block.footprint, nullptr);
  bytes_ -= info.size;
  live_.erase(it);
  Watcher* watcher = ActiveWatcher();
  if (watcher != nullptr && !block.hidden) watcher->Freed(SightOf(info));
  retired_.push_back({Fence::BehindAll(), base, block.footprint, block.record, EndLease(base)});
}

std::shared_ptr<BlockLease> Heap::EndLease(uintptr_t base) {
  const auto it = leases_.find(base);
  if (it == leases_.end()) return nullptr;
  std::shared_ptr<BlockLease> lease = std::move(it->second);
  leases_.erase(it);
  lease->freed.store(true, std::memory_order_release);
  return lease;
}

std::optional<SharedBlock> Heap::Share(const void* address, size_t size) {
  std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const BlockInfo block = map_.Find(address);
  const auto it = live_.find(block.base);
  if (!block.found() || it == live_.end() || size > block.end() - begin) return std::nullopt;
  if (it->second.pooled) return std::nullopt;  // a pool hands its blocks out again as it likes
  // Always the same chunks for the same block: all of a large one, or the one chunk that a small one lies in.
  const uintptr_t first = block.base / kChunkBytes * kChunkBytes;
  const size_t chunks = RoundUp(it->second.footprint, kChunkBytes);
  std::shared_ptr<SharedPages> pages = engine_.memory().SharePages(reinterpret_cast<void*>(first), chunks);
  if (pages == nullptr) return std::nullopt;
  if (IsSmall(it->second.footprint)) shared_chunks_.insert(first);
  std::shared_ptr<BlockLease>& lease = leases_[block.base];
  if (lease == nullptr) lease = std::make_shared<BlockLease>();
  // Others see the chunks that the range touches, and no more.
  const uintptr_t from = begin / kChunkBytes * kChunkBytes;
  return SharedBlock{{std::move(pages), from - first, RoundUp(begin + size, kChunkBytes) - from}, begin - from, lease};
}

bool Heap::Free(void* address, bool by_pool) {
  std::lock_guard lock(mutex_);
  auto it = live_.find(reinterpret_cast<uintptr_t>(address));
  if (it == live_.end() || it->second.pooled != by_pool) return false;
  Retire(it);
  Reclaim();
  return true;
}

void Heap::Hide(void* address) {
  std::lock_guard lock(mutex_);
  Live& block = live_.at(reinterpret_cast<uintptr_t>(address));
  block.hidden = true;
  SetMap(reinterpret_cast<uintptr_t>(address), block.footprint, nullptr);
  if (Watcher* watcher = ActiveWatcher()) watcher->Freed(SightOf(block.record->Read()));
}

void Heap::Show(void* address, const char* call, const void* caller) {
  std::lock_guard lock(mutex_);
  Live& block = live_.at(reinterpret_cast<uintptr_t>(address));
  BlockInfo info = block.record->Read();
  info.call = call;
  info.caller = caller;
  block.record->Describe(info);
  block.hidden = false;
  SetMap(info.base, block.footprint, block.record);
  if (Watcher* watcher = ActiveWatcher()) watcher->Allocated(SightOf(info));
}

void Heap::FreeAll() {
  std::lock_guard lock(mutex_);
  while (!live_.empty()) Retire(live_.begin());
  Reclaim();
}

bool Heap::Charge(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > capacity_ - bytes_) return false;
  ++charges_;
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return true;
}

void Heap::Refund(size_t bytes) {
  std::lock_guard lock(mutex_);
  --charges_;
  bytes_ -= bytes;
}

void Heap::Reclaim() {
  auto first_unused = std::partition(retired_.begin(), retired_.end(), [](Retired& entry) { return !entry.Unused(); });
  for (auto it = first_unused; it != retired_.end(); ++it) {
    ReturnAddress(it->base, it->footprint);
    unused_records_.push_back(it->record);
  }
  retired_.erase(first_unused, retired_.end());
}

Heap::Usage Heap::usage() {
  std::lock_guard lock(mutex_);
  return {live_.size() + charges_, bytes_, peak_bytes_, capacity_};
}

}  // namespace ropeway
