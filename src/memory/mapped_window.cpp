#include "memory/mapped_window.h"

#include <algorithm>
#include <iterator>

namespace ropeway {
namespace {

size_t SizeOf(const std::vector<PagePiece>& pieces) {
  size_t size = 0;
  for (const auto& piece : pieces) size += piece.size;
  return size;
}

void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

uintptr_t FirstGranule(uintptr_t address) { return address / kGranuleBytes * kGranuleBytes; }
uintptr_t EndGranule(uintptr_t address) { return (address + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes; }

}  // namespace

bool MappedWindow::Init(Engine& engine, void* base, size_t size) {
  engine_ = &engine;
  if (!map_.Init(base, size)) return false;
  free_.Add(map_.base(), size);
  return true;
}

BlockInfo MappedWindow::FindRun(const void* address) const {
  BlockInfo run = map_.Find(address);
  if (!run.found()) return run;
  std::lock_guard lock(mutex_);
  auto it = mapped_.find(run.base);
  if (it == mapped_.end()) return run;
  const void* owner = it->second.owner;
  while (++it != mapped_.end() && it->first == run.end() && it->second.owner == owner) {
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
  Reclaim();
  return free_.TakeAt(base, size);
}

void MappedWindow::Release(uintptr_t base, size_t size) {
  std::lock_guard lock(mutex_);
  for (auto it = mapped_.lower_bound(base); it != mapped_.end() && it->first < base + size; it = mapped_.erase(it)) {
    Hide(it->second);
    retired_.push_back({Fence::BehindAll(), std::move(it->second), 0, 0});
  }
  retired_.push_back({Fence::BehindAll(), {}, base, size});
  Reclaim();
}

bool MappedWindow::Map(uintptr_t base, const std::vector<PagePiece>& pieces, const BlockInfo& block, const void* owner, bool host_access) {
  std::lock_guard lock(mutex_);
  Reclaim();
  if (!MapPieces(base, pieces, host_access)) return false;
  if (unused_records_.empty()) unused_records_.push_back(&records_.emplace_back());
  Block* record = unused_records_.back();
  unused_records_.pop_back();
  record->Describe(block);
  const size_t size = SizeOf(pieces);
  if (block.base == base && block.size == size) {
    map_.SetChunks(base, size, record);
  } else {
    map_.SetGranules(FirstGranule(block.base), EndGranule(block.end()) - FirstGranule(block.base), record);
  }
  mapped_[block.base] = {base, size, pieces, record, owner};
  return true;
}

bool MappedWindow::MapPieces(uintptr_t base, const std::vector<PagePiece>& pieces, bool host_access) {
  uintptr_t at = base;
  for (const PagePiece& piece : pieces) {
    if (!engine_->memory().MapPages(*piece.pages, {At(at), piece.size, piece.offset, host_access})) {
      engine_->memory().UnmapPages(At(base), SizeOf(pieces));
      return false;
    }
    at += piece.size;
  }
  return true;
}

void MappedWindow::Hide(const Mapped& mapped) { map_.SetChunks(mapped.base, mapped.size, nullptr); }

bool MappedWindow::Unmap(uintptr_t block_base) {
  std::lock_guard lock(mutex_);
  const auto it = mapped_.find(block_base);
  if (it == mapped_.end()) return false;
  Hide(it->second);
  retired_.push_back({Fence::BehindAll(), std::move(it->second), 0, 0});
  mapped_.erase(it);
  Reclaim();
  return true;
}

bool MappedWindow::SetHostAccess(uintptr_t block_base, bool host_access) {
  std::lock_guard lock(mutex_);
  const auto it = mapped_.find(block_base);
  return it != mapped_.end() && MapPieces(it->second.base, it->second.pieces, host_access);
}

void MappedWindow::Reclaim() {
  // In order: addresses are given back behind the mappings that lie in them.
  size_t done = 0;
  for (; done < retired_.size() && retired_[done].fence.Passed(); ++done) {
    Retired& entry = retired_[done];
    if (!entry.mapped.pieces.empty()) {
      engine_->memory().UnmapPages(At(entry.mapped.base), entry.mapped.size);
      unused_records_.push_back(entry.mapped.record);
    }
    if (entry.release_size != 0) free_.Add(entry.release_base, entry.release_size);
  }
  retired_.erase(retired_.begin(), retired_.begin() + static_cast<ptrdiff_t>(done));
}

}  // namespace ropeway
