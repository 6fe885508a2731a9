#include "memory/mapped_window.h"

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "engine/watcher.h"

namespace ropeway {
namespace {

size_t SizeOf(const std::vector<PagePiece>& pieces) {
  size_t size = 0;
  for (const auto& piece : pieces) size += piece.size;
  return size;
}

uintptr_t FirstGranule(uintptr_t address) { return address / kGranuleBytes * kGranuleBytes; }
uintptr_t EndGranule(uintptr_t address) { return (address + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes; }

}  // namespace

bool MappedWindow::Init(Engine& engine, void* base, size_t size) {
  engine_ = &engine;
  if (!map_.Init(base, size)) return false;
  LockGuard lock(mutex_);
  free_.Add(map_.base(), size);
  return true;
}

BlockInfo MappedWindow::FindRun(const void* address, size_t count) const {
  BlockInfo run = map_.Find(address);
  const auto fits = [&] { return count <= run.end() - reinterpret_cast<uintptr_t>(address); };
  if (!run.found() || fits()) return run;
  LockGuard lock(mutex_);
  auto it = mapped_.find(run.base);
  if (it == mapped_.end()) return run;
  const void* owner = it->second->owner;
  while (!fits() && ++it != mapped_.end() && it->first == run.end() && it->second->owner == owner) {
    const BlockInfo next = it->second->record.Read();
    if (next.device != run.device) break;
    run.size += next.size;
  }
  return run;
}

void MappedWindow::KeepUnused(size_t count) {
  while (unused_.size() < count) unused_.emplace_back();
}

std::optional<uintptr_t> MappedWindow::Reserve(size_t size, size_t alignment) {
  LockGuard lock(mutex_);
  Reclaim();
  KeepUnused(reserved_ + 1);
  std::optional<uintptr_t> base = free_.Take(size, std::max(alignment, kChunkBytes));
  if (base) ++reserved_;
  return base;
}

bool MappedWindow::ReserveAt(uintptr_t base, size_t size) {
  LockGuard lock(mutex_);
  Reclaim(base, size);
  KeepUnused(reserved_ + 1);
  if (!free_.TakeAt(base, size)) return false;
  ++reserved_;
  return true;
}

void MappedWindow::Release(uintptr_t base, size_t size) {
  LockGuard lock(mutex_);
  for (auto it = mapped_.lower_bound(base); it != mapped_.end() && it->first < base + size;) Retire(it++);
  Reclaim();
  --reserved_;
  if (!Retiring(base, size)) return free_.Return(base, size);
  retired_.splice(retired_.end(), unused_, unused_.begin());
  Entry& entry = retired_.back();
  entry.base = base;
  entry.size = size;
  entry.fence = Fence::BehindAll();
}

void MappedWindow::AwaitUnused(uintptr_t base, size_t size) {
  const auto unused = [&] {
    LockGuard lock(mutex_);
    Reclaim();
    return !Retiring(base, size);
  };
  if (!unused()) Fence::BehindAll().Await();
}

bool MappedWindow::Map(uintptr_t base, const std::vector<PagePiece>& pieces, const BlockInfo& block, const void* owner, bool host_access) {
  LockGuard lock(mutex_);
  const size_t size = SizeOf(pieces);
  const bool whole = block.base == base && block.size == size;
  Reclaim(base, size);
  // Everything that may throw comes first.
  std::vector<PagePiece> own_pieces = pieces;
  KeepUnused(reserved_ + 1);
  for (uintptr_t chunk = base; !whole && chunk < base + size; chunk += kChunkBytes) map_.PrepareGranules(chunk);
  const auto place = mapped_.emplace(block.base, unused_.begin()).first;
  if (!MapPieces(base, pieces, host_access)) {
    engine_->memory().UnmapPages(At(base), size);
    mapped_.erase(place);
    return false;
  }
  Entry& entry = *place->second;
  entries_.splice(entries_.end(), unused_, unused_.begin());
  entry.base = base;
  entry.size = size;
  entry.pieces = std::move(own_pieces);
  entry.owner = owner;
  entry.host_access = host_access;
  entry.record.Describe(block);
  if (whole) {
    map_.SetChunks(base, size, &entry.record);
  } else {
    map_.SetGranules(FirstGranule(block.base), EndGranule(block.end()) - FirstGranule(block.base), &entry.record);
  }
  if (Watcher* watcher = ActiveWatcher()) watcher->Allocated({At(block.base), block.size, block.device, block.call});
  return true;
}

bool MappedWindow::MapPieces(uintptr_t base, const std::vector<PagePiece>& pieces, bool host_access) {
  uintptr_t at = base;
  for (const PagePiece& piece : pieces) {
    if (!engine_->memory().MapPages(*piece.pages, {At(at), piece.size, piece.offset, host_access})) return false;
    at += piece.size;
  }
  return true;
}

void MappedWindow::Retire(std::map<uintptr_t, Entries::iterator>::iterator it) {
  Entry& entry = *it->second;
  map_.SetChunks(entry.base, entry.size, nullptr);
  const BlockInfo block = entry.record.Read();
  if (Watcher* watcher = ActiveWatcher()) watcher->Freed({At(block.base), block.size, block.device, block.call});
  entry.freed_at = FreeClock::Tick();
  entry.fence = Fence::BehindAll();
  retired_.splice(retired_.end(), entries_, it->second);
  mapped_.erase(it);
}

bool MappedWindow::Unmap(uintptr_t block_base) {
  LockGuard lock(mutex_);
  const auto it = mapped_.find(block_base);
  if (it == mapped_.end()) return false;
  Retire(it);
  Reclaim();
  if (!retired_.empty() && reclaimer_ != nullptr) reclaimer_->AskForIt();
  return true;
}

AddressJudge::Verdict MappedWindow::Reserved(const void* address, size_t size, uint64_t as_of) const {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  LockGuard lock(mutex_);
  for (const Entry& entry : retired_) {
    if (entry.pieces.empty() || entry.freed_at <= as_of) continue;
    const BlockInfo block = entry.record.Read();
    if (bits - block.base < block.size && size <= block.end() - bits) return {true, block.device};
  }
  return {false, -1};
}

bool MappedWindow::SetHostAccess(uintptr_t block_base, bool host_access) {
  LockGuard lock(mutex_);
  const auto it = mapped_.find(block_base);
  if (it == mapped_.end()) return false;
  Entry& mapped = *it->second;
  if (MapPieces(mapped.base, mapped.pieces, host_access)) {
    mapped.host_access = host_access;
    return true;
  }
  MapPieces(mapped.base, mapped.pieces, mapped.host_access);  // as it was
  return false;
}

bool MappedWindow::Retiring(uintptr_t base, size_t size) const {
  return std::any_of(retired_.begin(), retired_.end(), [&](const Entry& entry) { return entry.Touches(base, size); });
}

void MappedWindow::Reclaim(uintptr_t base, size_t size) {
  // In order: addresses are given back behind the mappings that lie in them.
  while (!retired_.empty() && retired_.front().fence.Passed()) Finish(retired_.begin());
  for (auto it = retired_.begin(); size != 0 && it != retired_.end();) {
    const auto entry = it++;
    if (entry->Touches(base, size)) Finish(entry);
  }
}

bool MappedWindow::ReclaimSome() {
  LockGuard lock(mutex_);
  Reclaim();
  return !retired_.empty();
}

void MappedWindow::Finish(Entries::iterator entry) {
  if (entry->pieces.empty()) {
    free_.Return(entry->base, entry->size);
  } else {
    engine_->memory().UnmapPages(At(entry->base), entry->size);
    entry->pieces.clear();
  }
  unused_.splice(unused_.end(), retired_, entry);
}

}  // namespace ropeway
