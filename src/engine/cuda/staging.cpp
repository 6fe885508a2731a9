#include "engine/cuda/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace ropeway::cuda {

struct Staging::Job {
  Staging* staging;
  const std::vector<Group>* groups;
  bool to_device;
  std::atomic<CUresult> failure{CUDA_SUCCESS};
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
    std::lock_guard lock(mutex_);
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
  std::lock_guard lock(mutex_);
  slots_.push_back(std::move(slot));
  return slots_.back().get();
}

void Staging::Return(Slot* slot) {
  std::lock_guard lock(mutex_);
  idle_.push_back(slot);
}

CUresult Staging::Fill(Slot& slot, const Group& group) {
  const CUresult before = slot.line->Wait();
  std::vector<KernelPiece> staged;
  size_t at = 0;
  for (const KernelPiece& piece : group) {
    std::memcpy(slot.bytes + at, piece.src, piece.size);
    staged.push_back({piece.dst, slot.bytes + at, piece.size});
    at += piece.size;
  }
  slot.line->CopyUnordered(staged, at, CudaLine::kAllWanted, CudaLine::kNoMore);
  return before;
}

CUresult Staging::Empty(Slot& slot, const Group& group) {
  std::vector<KernelPiece> staged;
  size_t at = 0;
  for (const KernelPiece& piece : group) {
    staged.push_back({slot.bytes + at, piece.src, piece.size});
    at += piece.size;
  }
  slot.line->CopyUnordered(staged, at, CudaLine::kAllWanted, CudaLine::kNoMore);
  const CUresult result = slot.line->Wait();
  for (size_t i = 0; i < group.size() && result == CUDA_SUCCESS; ++i) std::memcpy(group[i].dst, staged[i].dst, group[i].size);
  return result;
}

CUresult Staging::Copy(const std::vector<KernelPiece>& pieces, bool to_device) {
  const std::vector<Group> groups = Divide(pieces);
  Job job{this, &groups, to_device};
  const auto body = [](void* context, size_t begin, size_t) {
    auto* here = static_cast<Job*>(context);
    Staging& self = *here->staging;
    self.gpu_.driver->cuCtxSetCurrent(self.gpu_.context);
    Slot* slot = self.Take();
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (slot != nullptr) {
      const Group& group = (*here->groups)[begin];
      result = here->to_device ? self.Fill(*slot, group) : self.Empty(*slot, group);
      self.Return(slot);
    }
    if (result != CUDA_SUCCESS) here->failure.store(result);
  };
  sched::RangeWork work(groups.size(), 1, body, &job);
  sharer_.Share(work, groups.size() * kSlotBytes);
  // What was filled last is still on its way.
  std::vector<Slot*> slots;
  {
    std::lock_guard lock(mutex_);
    slots.swap(idle_);
  }
  for (Slot* slot : slots) {
    const CUresult result = slot->line->Wait();
    if (result != CUDA_SUCCESS) job.failure.store(result);
  }
  std::lock_guard lock(mutex_);
  idle_.insert(idle_.end(), slots.begin(), slots.end());
  return job.failure.load();
}

}  // namespace ropeway::cuda
