#include "engine/cuda/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/host_touch.h"

namespace ropeway::cuda {

struct Staging::Job {
  Staging* staging;
  const std::vector<Group>* groups;
  bool to_device;
  std::atomic<CUresult> failure{CUDA_SUCCESS};
  std::atomic<bool> faulted{false};
  std::atomic<const void*> fault{nullptr};

  void Note(CUresult result) {
    if (result != CUDA_SUCCESS) failure.store(result);
  }
  // Moves the bytes between the program's memory and a slot; false when some of the former is not there.
  template <class Move>
  bool Touch(Move move) {
    const void* where;
    if (TouchHost(move, &where)) return true;
    fault.store(where);
    faulted.store(true);
    return false;
  }
};

Staging::~Staging() {
  for (auto& slot : slots_) {
    if (slot->bytes != nullptr) gpu_.driver->cuMemFreeHost(slot->bytes);
  }
}

std::vector<Staging::Group> Staging::Divide(const std::vector<KernelPiece>& pieces) {
  std::vector<Group> groups;
  size_t room = 0;
  for (const KernelPiece& piece : pieces) {
    for (size_t at = 0; at < piece.size;) {
      if (room == 0) {
        groups.emplace_back();
        room = kSlotBytes;
      }
      const size_t part = std::min(room, piece.size - at);
      groups.back().push_back({static_cast<char*>(piece.dst) + at, static_cast<const char*>(piece.src) + at, part});
      at += part;
      room -= part;
    }
  }
  return groups;
}

Staging::Slot* Staging::Take() {
  {
    LockGuard lock(mutex_);
    if (!idle_.empty()) {
      // The one that has been on its way the longest.
      Slot* slot = idle_.front();
      idle_.erase(idle_.begin());
      return slot;
    }
  }
  auto slot = std::make_unique<Slot>();
  slot->line = std::make_unique<CudaLine>(gpu_);
  if (gpu_.driver->cuMemHostAlloc(reinterpret_cast<void**>(&slot->bytes), kSlotBytes, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
    return nullptr;
  LockGuard lock(mutex_);
  slots_.push_back(std::move(slot));
  return slots_.back().get();
}

void Staging::Return(Slot* slot) {
  LockGuard lock(mutex_);
  idle_.push_back(slot);
}

void Staging::Fill(Job& job, Slot& slot, const Group& group) {
  job.Note(slot.line->Wait());
  std::vector<KernelPiece> staged;
  size_t at = 0;
  for (const KernelPiece& piece : group) {
    staged.push_back({piece.dst, slot.bytes + at, piece.size});
    at += piece.size;
  }
  const bool filled = job.Touch([&] {
    for (size_t i = 0; i < group.size(); ++i) std::memcpy(const_cast<void*>(staged[i].src), group[i].src, group[i].size);
  });
  if (filled) slot.line->CopyUnordered(staged, at, CudaLine::kAllWanted, CudaLine::kNoMore);
}

void Staging::Empty(Job& job, Slot& slot, const Group& group) {
  std::vector<KernelPiece> staged;
  size_t at = 0;
  for (const KernelPiece& piece : group) {
    staged.push_back({slot.bytes + at, piece.src, piece.size});
    at += piece.size;
  }
  slot.line->CopyUnordered(staged, at, CudaLine::kAllWanted, CudaLine::kNoMore);
  const CUresult result = slot.line->Wait();
  job.Note(result);
  if (result != CUDA_SUCCESS) return;
  job.Touch([&] {
    for (size_t i = 0; i < group.size(); ++i) std::memcpy(group[i].dst, staged[i].dst, group[i].size);
  });
}

Staging::Outcome Staging::Copy(const std::vector<KernelPiece>& pieces, bool to_device) {
  const std::vector<Group> groups = Divide(pieces);
  Job job{this, &groups, to_device};
  const auto body = [](void* context, size_t begin, size_t) {
    auto& here = *static_cast<Job*>(context);
    if (here.faulted.load(std::memory_order_relaxed)) return;
    Staging& self = *here.staging;
    self.gpu_.driver->cuCtxSetCurrent(self.gpu_.context);
    Slot* slot = self.Take();
    if (slot == nullptr) return here.Note(CUDA_ERROR_OUT_OF_MEMORY);
    const Group& group = (*here.groups)[begin];
    here.to_device ? Fill(here, *slot, group) : Empty(here, *slot, group);
    self.Return(slot);
  };
  sched::RangeWork work(groups.size(), 1, body, &job);
  sharer_.Share(work, groups.size() * kSlotBytes);
  // What was filled last is still on its way.
  std::vector<Slot*> slots;
  {
    LockGuard lock(mutex_);
    slots.swap(idle_);
  }
  for (Slot* slot : slots) job.Note(slot->line->Wait());
  LockGuard lock(mutex_);
  idle_.insert(idle_.end(), slots.begin(), slots.end());
  return {job.failure.load(), job.faulted.load(), job.fault.load()};
}

}  // namespace ropeway::cuda
