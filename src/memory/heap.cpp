#include "memory/heap.h"

#include <algorithm>

#include "engine/watcher.h"

namespace ropeway {
namespace {

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Heap::Heap(Engine& engine, AddressMap& map, uintptr_t window, size_t window_size, size_t capacity, int device)
    : engine_(engine), map_(map), device_(device), capacity_(capacity) {
  chunks_.Add(window, window_size);
}

std::optional<void*> Heap::Allocate(const HeapRequest& request) {
  std::lock_guard lock(mutex_);
  Reclaim();
  if (request.reserved > capacity_ - bytes_) return std::nullopt;
  const size_t in_granules = RoundUp(request.reserved, kGranuleBytes);
  const size_t footprint = IsSmall(in_granules) ? in_granules : RoundUp(request.reserved, kChunkBytes);
  std::optional<uintptr_t> base = TakeAddress(footprint, request.alignment);
  if (!base) return std::nullopt;
  if (!IsSmall(footprint) && !engine_.memory().Commit(reinterpret_cast<void*>(*base), footprint, request.huge_pages)) {
    chunks_.Add(*base, footprint);
    return std::nullopt;
  }
  Block* record = NewRecord();
  record->Describe({*base, request.reserved, device_, request.page_size, request.call, request.caller});
  SetMap(*base, footprint, record);
  live_.emplace(*base, footprint);
  bytes_ += request.reserved;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  if (Watcher* watcher = ActiveWatcher())
    watcher->Allocated({reinterpret_cast<void*>(*base), request.reserved, device_, request.call});
  return reinterpret_cast<void*>(*base);
}

std::optional<uintptr_t> Heap::TakeAddress(size_t footprint, size_t alignment) {
  if (!IsSmall(footprint)) return chunks_.Take(footprint, std::max(alignment, kChunkBytes));
  if (auto base = granules_.Take(footprint, alignment)) return base;
  std::optional<uintptr_t> chunk = chunks_.Take(kChunkBytes, kChunkBytes);
  if (!chunk) return std::nullopt;
  if (!engine_.memory().Commit(reinterpret_cast<void*>(*chunk), kChunkBytes, false)) {
    chunks_.Add(*chunk, kChunkBytes);
    return std::nullopt;
  }
  granules_.Add(*chunk, kChunkBytes);
  return granules_.Take(footprint, alignment);
}

void Heap::ReturnAddress(uintptr_t base, size_t footprint) {
  if (!IsSmall(footprint)) {
    engine_.memory().Decommit(reinterpret_cast<void*>(base), footprint);
    chunks_.Add(base, footprint);
    return;
  }
  // Chunks without any small block left go back whole, all but one: a program that allocates and frees one small block
  // at a time should not pay for a fresh page each time.
  auto [free_base, free_size] = granules_.Add(base, footprint);
  const uintptr_t first = RoundUp(free_base, kChunkBytes) + kChunkBytes;
  const uintptr_t end = (free_base + free_size) / kChunkBytes * kChunkBytes;
  if (end <= first) return;
  granules_.Remove(first, end - first);
  engine_.memory().Decommit(reinterpret_cast<void*>(first), end - first);
  chunks_.Add(first, end - first);
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

void Heap::Retire(uintptr_t base) {
  auto it = live_.find(base);
  const size_t footprint = it->second;
  Block* record = map_.RecordAt(base);
  const BlockInfo info = record->Read();
  SetMap(base, footprint, nullptr);
  bytes_ -= info.size;
  live_.erase(it);
  if (Watcher* watcher = ActiveWatcher()) watcher->Freed({reinterpret_cast<void*>(base), info.size, device_, info.call});
  retired_.push_back({Fence::BehindAll(), base, footprint, record});
}

bool Heap::Free(void* address) {
  std::lock_guard lock(mutex_);
  const auto base = reinterpret_cast<uintptr_t>(address);
  if (live_.find(base) == live_.end()) return false;
  Retire(base);
  Reclaim();
  return true;
}

void Heap::FreeAll() {
  std::lock_guard lock(mutex_);
  while (!live_.empty()) Retire(live_.begin()->first);
  Reclaim();
}

void Heap::Reclaim() {
  auto first_unused = std::partition(retired_.begin(), retired_.end(), [](Retired& entry) { return !entry.fence.Passed(); });
  for (auto it = first_unused; it != retired_.end(); ++it) {
    ReturnAddress(it->base, it->footprint);
    unused_records_.push_back(it->record);
  }
  retired_.erase(first_unused, retired_.end());
}

Heap::Usage Heap::usage() {
  std::lock_guard lock(mutex_);
  return {live_.size(), bytes_, peak_bytes_, capacity_};
}

}  // namespace ropeway
