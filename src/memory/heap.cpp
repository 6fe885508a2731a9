#include "memory/heap.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "engine/address_judge.h"
#include "engine/watcher.h"

namespace ropeway {
namespace {

// How many blocks of which other processes have a hold are looked at in one call.
constexpr int kSharedLooks = 4;

BlockSight SightOf(const BlockInfo& info) { return {reinterpret_cast<void*>(info.base), info.size, info.device, info.call}; }

}  // namespace

Heap::Heap(Engine& engine, AddressMap& map, uintptr_t window, size_t window_size, size_t capacity, int device)
    : engine_(engine), map_(map), window_(window), window_size_(window_size), device_(device), capacity_(capacity) {
  chunks_.Add(window, window_size);
}

bool Heap::Commit(uintptr_t base, size_t size, bool huge_pages) {
  return engine_.memory().Commit(reinterpret_cast<void*>(base), size, huge_pages);
}

void Heap::Decommit(uintptr_t base, size_t size) { engine_.memory().Decommit(reinterpret_cast<void*>(base), size); }

// --- Allocating ---------------------------------------------------------------------------------------------------------

std::optional<void*> Heap::Allocate(const HeapRequest& request) {
  LockGuard lock(mutex_);
  Reclaim();
  if (request.reserved > capacity_ - bytes_) return std::nullopt;
  const size_t in_granules = RoundUp(request.reserved, kGranuleBytes);
  const size_t footprint = IsSmall(in_granules) ? in_granules : RoundUp(request.reserved, kChunkBytes);
  // Everything that may throw comes first, and what it leaves behind is an unused record.
  Record* record = NewRecord();
  std::optional<uintptr_t> base = TakeAddress(footprint, request.alignment, request.huge_pages);
  if (!base) return std::nullopt;
  unused_.PopFront();
  record->base = *base;
  record->reserved = request.reserved;
  record->footprint = footprint;
  record->state = Record::State::kLive;
  record->pooled = request.pool != nullptr;
  record->shared = false;
  const BlockInfo info{*base, request.reserved, device_, request.page_size, request.call, request.caller, request.pool};
  record->Describe(info);
  SetMap(*record);
  ++blocks_;
  bytes_ += request.reserved;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  if (Watcher* watcher = ActiveWatcher()) watcher->Allocated(SightOf(info));
  return reinterpret_cast<void*>(*base);
}

// The first unused one, which stays in the list until it is used.
Heap::Record* Heap::NewRecord() {
  if (unused_.first() == nullptr) unused_.PushFront(&records_.emplace_back());
  return unused_.first();
}

std::optional<uintptr_t> Heap::TakeAddress(size_t footprint, size_t alignment, bool huge_pages) {
  if (IsSmall(footprint)) return TakeSmall(footprint, alignment);
  std::optional<uintptr_t> base = chunks_.Take(footprint, std::max(alignment, kChunkBytes));
  if (!base || Commit(*base, footprint, huge_pages)) return base;
  chunks_.Return(*base, footprint);
  return std::nullopt;
}

std::optional<uintptr_t> Heap::TakeSmall(size_t footprint, size_t alignment) {
  std::optional<uintptr_t> base = granules_.Take(footprint, alignment, false);
  if (!base) base = granules_.Take(footprint, alignment, !AddSmallChunk());
  if (base && idle_chunk_ == *base / kChunkBytes * kChunkBytes) idle_chunk_.reset();
  return base;
}

bool Heap::AddSmallChunk() {
  std::optional<uintptr_t> chunk = chunks_.Take(kChunkBytes, kChunkBytes);
  if (!chunk) return false;
  try {
    map_.PrepareGranules(*chunk);
    if (Commit(*chunk, kChunkBytes, false)) {
      granules_.AddChunk(*chunk);
      return true;
    }
  } catch (...) {
    chunks_.Return(*chunk, kChunkBytes);
    throw;
  }
  chunks_.Return(*chunk, kChunkBytes);
  return false;
}

void Heap::SetMap(const Record& record) {
  if (IsSmall(record.footprint)) {
    map_.SetGranules(record.base, record.footprint, &record);
  } else {
    map_.SetChunks(record.base, record.footprint, &record);
  }
}

// --- Freeing: nothing here allocates ------------------------------------------------------------------------------------

Heap::Record* Heap::FindLent(const void* address) const {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  if (bits - window_ >= window_size_) return nullptr;
  auto* record = static_cast<Record*>(map_.RecordAt(bits));
  return record != nullptr && record->base == bits && record->lent() ? record : nullptr;
}

bool Heap::Free(void* address, bool by_pool) {
  LockGuard lock(mutex_);
  Record* record = FindLent(address);
  if (record == nullptr || record->pooled != by_pool) return false;
  Retire(*record);
  ReclaimNowOrLater();
  return true;
}

std::optional<FreedBlock> Heap::LastFreed(const void* address) {
  LockGuard lock(mutex_);
  return freed_.Find(address);
}

void Heap::FreeAll() {
  LockGuard lock(mutex_);
  for (Record& record : records_) {
    if (record.lent()) Retire(record);
  }
  ReclaimNowOrLater();
}

void Heap::ReclaimNowOrLater() {
  Reclaim();
  if (WaitsForSomething() && reclaimer_ != nullptr) reclaimer_->AskForIt();
}

// From here on no lookup finds it. The record stays in the map: Reserved wants to know what was there.
void Heap::Conceal(Record& record) {
  BlockInfo info = record.Read();
  freed_.Add(info);
  if (Watcher* watcher = ActiveWatcher()) watcher->Freed(SightOf(info));
  map_.Close(record.base, record.footprint);
  info.size = 0;
  record.Describe(info);
  record.freed_at = FreeClock::Tick();
}

void Heap::Retire(Record& record) {
  if (record.state == Record::State::kLive) Conceal(record);
  --blocks_;
  bytes_ -= record.reserved;
  record.state = Record::State::kRetired;
  if (record.shared) leases_.at(record.base)->freed.store(true, std::memory_order_release);
  record.fence = Fence::BehindAll();
  retired_.PushBack(&record);
}

void Heap::Reclaim() {
  while (retired_.first() != nullptr && retired_.first()->fence.Passed()) {
    Record* record = retired_.PopFront();
    if (record->shared) {
      held_elsewhere_.PushBack(record);
    } else {
      Dispose(*record);
    }
  }
  ReclaimShared();
}

void Heap::ReclaimShared() {
  for (int i = 0; i < kSharedLooks; ++i) {
    Record* record = held_elsewhere_.PopFront();
    if (record == nullptr) return;
    const auto lease = leases_.find(record->base);
    if (lease->second.use_count() > 1) {
      held_elsewhere_.PushBack(record);
      continue;
    }
    leases_.erase(lease);
    Dispose(*record);
  }
}

bool Heap::ReclaimSome() {
  LockGuard lock(mutex_);
  Reclaim();
  return WaitsForSomething();
}

void Heap::Dispose(Record& record) {
  ReturnAddress(record.base, record.footprint);
  record.state = Record::State::kUnused;
  unused_.PushFront(&record);
}

void Heap::ReturnAddress(uintptr_t base, size_t footprint) {
  if (!IsSmall(footprint)) {
    Decommit(base, footprint);
    chunks_.Return(base, footprint);
    return;
  }
  if (!granules_.Return(base, footprint)) return;
  // Chunks without any small block left go back, all but one: a program that allocates and frees one small block at a time should
  // not pay for a fresh page each time. A chunk that other processes have seen is not for new blocks.
  const uintptr_t chunk = base / kChunkBytes * kChunkBytes;
  const bool shared = shared_chunks_.erase(chunk) != 0;
  if (!shared && !idle_chunk_) {
    idle_chunk_ = chunk;
    return;
  }
  granules_.RemoveChunk(chunk);
  Decommit(chunk, kChunkBytes);
  chunks_.Return(chunk, kChunkBytes);
}

bool Heap::Reserved(const void* address, size_t size, uint64_t as_of) {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  if (bits - window_ >= window_size_) return false;
  LockGuard lock(mutex_);
  const auto* record = static_cast<const Record*>(map_.RecordAt(bits));
  if (record == nullptr || record->state == Record::State::kUnused) return false;
  const bool inside = bits - record->base < record->reserved && size <= record->reserved - (bits - record->base);
  return inside && (record->state == Record::State::kLive || record->freed_at > as_of);
}

// --- Pools, and other processes -----------------------------------------------------------------------------------------

std::optional<SharedBlock> Heap::Share(const void* address, size_t size) {
  LockGuard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const BlockInfo block = map_.Find(address);
  Record* record = block.found() ? FindLent(reinterpret_cast<void*>(block.base)) : nullptr;
  if (record == nullptr || size > block.end() - begin) return std::nullopt;
  if (record->pooled) return std::nullopt;  // a pool hands its blocks out again as it likes
  // Always the same chunks for the same block: all of a large one, or the one chunk that a small one lies in.
  const uintptr_t first = block.base / kChunkBytes * kChunkBytes;
  const size_t chunks = RoundUp(record->footprint, kChunkBytes);
  std::shared_ptr<BlockLease>& lease = leases_[block.base];
  if (lease == nullptr) lease = std::make_shared<BlockLease>();
  record->shared = true;
  if (IsSmall(record->footprint)) shared_chunks_.insert(first);
  std::shared_ptr<SharedPages> pages = engine_.memory().SharePages(reinterpret_cast<void*>(first), chunks);
  if (pages == nullptr) return std::nullopt;
  if (!engine_.memory().maps_parts()) return SharedBlock{{std::move(pages), 0, chunks}, begin - first, lease};
  // Others see the chunks that the range touches, and no more.
  const uintptr_t from = begin / kChunkBytes * kChunkBytes;
  return SharedBlock{{std::move(pages), from - first, RoundUp(begin + size, kChunkBytes) - from}, begin - from, lease};
}

void Heap::Hide(void* address) {
  LockGuard lock(mutex_);
  Record& record = *FindLent(address);
  Conceal(record);
  record.state = Record::State::kHidden;
}

void Heap::Show(void* address, const char* call, const void* caller) {
  LockGuard lock(mutex_);
  Record& record = *FindLent(address);
  BlockInfo info = record.Read();
  info.size = record.reserved;
  info.call = call;
  info.caller = caller;
  record.Describe(info);
  record.state = Record::State::kLive;
  SetMap(record);
  if (Watcher* watcher = ActiveWatcher()) watcher->Allocated(SightOf(info));
}

// --- The account --------------------------------------------------------------------------------------------------------

bool Heap::Charge(size_t bytes) {
  LockGuard lock(mutex_);
  if (bytes > capacity_ - bytes_) return false;
  ++charges_;
  bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  return true;
}

void Heap::Refund(size_t bytes) {
  LockGuard lock(mutex_);
  --charges_;
  bytes_ -= bytes;
}

Heap::Usage Heap::usage() {
  LockGuard lock(mutex_);
  return {blocks_ + charges_, bytes_, peak_bytes_, capacity_};
}

}  // namespace ropeway
