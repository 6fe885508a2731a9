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
  free_.Add(map_.base(), size);
  return true;
}

BlockInfo MappedWindow::FindRun(const void* address, size_t count) const {
  BlockInfo run = map_.Find(address);
  const auto fits = [&] { return count <= run.end() - reinterpret_cast<uintptr_t>(address); };
  if (!run.found() || fits()) return run;
  std::lock_guard lock(mutex_);
  auto it = mapped_.find(run.base);
  if (it == mapped_.end()) return run;
  const void* owner = it->second.owner;
  while (!fits() && ++it != mapped_.end() && it->first == run.end() && it->second.owner == owner) {
    const BlockInfo next = it->second.record->Read();
    if (next.device != run.device) break;
    run.size += next.size;
  }
  return run;
}

std::optional<uintptr_t> MappedWindow::Reserve(size_t size, size_t alignment) {
  std::lock_guard lock(mutex_);
  Reclaim();
  return free_.Take(size, std::max(alignment, kChunkBytes));
}

bool MappedWindow::ReserveAt(uintptr_t base, size_t size) {
  std::lock_guard lock(mutex_);
  Reclaim(base, size);
  return free_.TakeAt(base, size);
}

void MappedWindow::Release(uintptr_t base, size_t size) {
  std::lock_guard lock(mutex_);
  for (auto it = mapped_.lower_bound(base); it != mapped_.end() && it->first < base + size;) Retire(it++);
  Reclaim();
  if (Retiring(base, size)) {
    retired_.push_back({Fence::BehindAll(), {}, base, size});
  } else {
    free_.Add(base, size);
  }
}

void MappedWindow::AwaitUnused(uintptr_t base, size_t size) {
  const auto unused = [&] {
    std::lock_guard lock(mutex_);
    Reclaim();
    return !Retiring(base, size);
  };
  if (!unused()) Fence::BehindAll().Await();
}

bool MappedWindow::Map(uintptr_t base, const std::vector<PagePiece>& pieces, const BlockInfo& block, const void* owner,
                       bool host_access) {
  std::lock_guard lock(mutex_);
  const size_t size = SizeOf(pieces);
  Reclaim(base, size);
  if (!MapPieces(base, pieces, host_access)) {
    engine_->memory().UnmapPages(At(base), size);
    return false;
  }
  if (unused_records_.empty()) unused_records_.push_back(&records_.emplace_back());
  Block* record = unused_records_.back();
  unused_records_.pop_back();
  record->Describe(block);
  if (block.base == base && block.size == size) {
    map_.SetChunks(base, size, record);
  } else {
    map_.SetGranules(FirstGranule(block.base), EndGranule(block.end()) - FirstGranule(block.base), record);
  }
  mapped_[block.base] = {base, size, pieces, record, owner, host_access};
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

void MappedWindow::Hide(const Mapped& mapped) { map_.SetChunks(mapped.base, mapped.size, nullptr); }

void MappedWindow::Retire(std::map<uintptr_t, Mapped>::iterator it) {
  Hide(it->second);
  if (Watcher* watcher = ActiveWatcher()) {
    const BlockInfo block = it->second.record->Read();
    watcher->Freed({At(block.base), block.size, block.device, block.call});
  }
  retired_.push_back({Fence::BehindAll(), std::move(it->second), 0, 0});
  mapped_.erase(it);
}

bool MappedWindow::Unmap(uintptr_t block_base) {
  std::lock_guard lock(mutex_);
  const auto it = mapped_.find(block_base);
  if (it == mapped_.end()) return false;
  Retire(it);
  Reclaim();
  return true;
}

bool MappedWindow::SetHostAccess(uintptr_t block_base, bool host_access) {
  std::lock_guard lock(mutex_);
  const auto it = mapped_.find(block_base);
  if (it == mapped_.end()) return false;
  Mapped& mapped = it->second;
  if (MapPieces(mapped.base, mapped.pieces, host_access)) {
    mapped.host_access = host_access;
    return true;
  }
  MapPieces(mapped.base, mapped.pieces, mapped.host_access);  // as it was
  return false;
}

bool MappedWindow::Retired::Touches(uintptr_t base, size_t size) const {
  const auto meets = [&](uintptr_t other, size_t other_size) { return other < base + size && base < other + other_size; };
  return meets(mapped.base, mapped.size) || meets(release_base, release_size);
}

bool MappedWindow::Retiring(uintptr_t base, size_t size) const {
  return std::any_of(retired_.begin(), retired_.end(), [&](const Retired& entry) { return entry.Touches(base, size); });
}

void MappedWindow::Reclaim(uintptr_t base, size_t size) {
  // In order: addresses are given back behind the mappings that lie in them.
  bool waiting = false;
  const auto done = [&](Retired& entry) {
    waiting = waiting || !entry.fence.Passed();
    if (waiting && !entry.Touches(base, size)) return false;
    Finish(entry);
    return true;
  };
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(), done), retired_.end());
}

void MappedWindow::Finish(Retired& entry) {
  if (!entry.mapped.pieces.empty()) {
    engine_->memory().UnmapPages(At(entry.mapped.base), entry.mapped.size);
    unused_records_.push_back(entry.mapped.record);
  }
  if (entry.release_size != 0) free_.Add(entry.release_base, entry.release_size);
}

}  // namespace ropeway
