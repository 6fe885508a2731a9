#include "engine/cuda/staging.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/host_touch.h"
#include "base/spin_lock.h"

namespace ropeway::cuda {
namespace {

constexpr size_t kSlotBytes = size_t{2} << 20;
constexpr size_t kSmallestGroup = size_t{128} << 10;
// So that all hands have some: the last one must not keep the others waiting for long, and the link begins with the first.
constexpr size_t kGroups = 32;
// Groups that are on their way from the device before their turn: so many that the link is busy while lanes wake up. Measured on an H200
// with 16 MiB: 6 give 22 to 24 GB/s, 12 25, 24 30, and 31 no more.
constexpr size_t kAhead = 24;
// From here on sleeping lanes are called, one for each time that makes this much.
constexpr size_t kBytesPerHand = size_t{1} << 20;
constexpr cpu::AskAhead kAskAhead{2048, SIZE_MAX};    // measured beside an H200
constexpr size_t kCallForHelpFrom = size_t{2} << 20;  // what the sharer takes for one hand's worth

size_t GroupBytes(size_t bytes) { return std::clamp((bytes / kGroups + 4095) / 4096 * 4096, kSmallestGroup, kSlotBytes); }

// Wide registers where they are: this host has a GPU beside it, and is no old one.
const cpu::KernelTable& HostKernels() {
  const cpu::KernelTable* wide = cpu::FindKernels("avx512");
  return wide != nullptr ? *wide : *cpu::KernelsAt(0);
}

}  // namespace

struct Staging::Job {
  struct Arrival {
    std::atomic<bool> claimed{false};
    std::atomic<bool> begun{false};
    Slot* slot = nullptr;  // behind `begun`; null when there was none
  };
  const Gpu& gpu;
  const std::vector<Group>& groups;
  bool to_device;
  std::vector<Arrival> arrivals{to_device ? 0 : groups.size()};
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

Staging::Staging(WorkSharer& sharer) : sharer_(sharer), kernels_(HostKernels()) {}

Staging::~Staging() {
  for (auto& slot : slots_) {
    if (slot->bytes != nullptr) slot->line->gpu().driver->cuMemFreeHost(slot->bytes);
  }
}

std::vector<Staging::Group> Staging::Divide(const std::vector<KernelPiece>& pieces, size_t group_bytes) {
  std::vector<Group> groups;
  size_t room = 0;
  for (const KernelPiece& piece : pieces) {
    for (size_t at = 0; at < piece.size;) {
      if (room == 0) {
        groups.emplace_back();
        room = group_bytes;
      }
      const size_t part = std::min(room, piece.size - at);
      groups.back().push_back({static_cast<char*>(piece.dst) + at, static_cast<const char*>(piece.src) + at, part});
      at += part;
      room -= part;
    }
  }
  return groups;
}

// Null, and the job knows why.
Staging::Slot* Staging::Take(Job& job) {
  const Gpu& gpu = job.gpu;
  {
    LockGuard lock(mutex_);
    // The one that has been on its way the longest.
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Slot* slot) { return &slot->line->gpu() == &gpu; });
    if (found != idle_.end()) {
      Slot* slot = *found;
      idle_.erase(found);
      return slot;
    }
  }
  auto slot = std::make_unique<Slot>();
  slot->line = std::make_unique<CudaLine>(gpu);
  const CUresult result = gpu.driver->AllocatePinned(reinterpret_cast<void**>(&slot->bytes), kSlotBytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS) {
    job.Note(result);
    return nullptr;
  }
  LockGuard lock(mutex_);
  slots_.push_back(std::move(slot));
  return slots_.back().get();
}

void Staging::Return(Slot* slot) {
  LockGuard lock(mutex_);
  idle_.push_back(slot);
}

void Staging::Fill(Job& job, const Group& group) {
  Slot* const slot = Take(job);
  if (slot == nullptr) return;
  job.Note(slot->line->Wait());
  Group staged;
  size_t at = 0;
  for (const KernelPiece& piece : group) {
    staged.push_back({piece.dst, slot->bytes + at, piece.size});
    at += piece.size;
  }
  const bool filled = job.Touch([&] {
    for (size_t i = 0; i < group.size(); ++i)
      kernels_.stream_copy(const_cast<void*>(staged[i].src), group[i].src, group[i].size, kAskAhead);
  });
  if (filled) slot->line->CopyUnordered(staged, at, CudaLine::kAllWanted, CudaLine::kNoMore);
  Return(slot);
}

void Staging::Fetch(Job& job, size_t group) {
  if (group >= job.groups.size()) return;
  Job::Arrival& arrival = job.arrivals[group];
  if (arrival.claimed.exchange(true, std::memory_order_relaxed)) return;
  Slot* const slot = Take(job);
  if (slot != nullptr) {
    job.Note(slot->line->Wait());
    Group staged;
    size_t at = 0;
    for (const KernelPiece& piece : job.groups[group]) {
      staged.push_back({slot->bytes + at, piece.src, piece.size});
      at += piece.size;
    }
    slot->line->CopyUnordered(staged, at, CudaLine::kAllWanted, CudaLine::kNoMore);
  }
  arrival.slot = slot;
  arrival.begun.store(true, std::memory_order_release);
}

void Staging::Empty(Job& job, size_t group) {
  for (size_t i = group; i <= group + (group == 0 ? kAhead : 0); ++i) Fetch(job, i);
  Fetch(job, group + kAhead);
  Job::Arrival& arrival = job.arrivals[group];
  for (int spins = 0; !arrival.begun.load(std::memory_order_acquire); ++spins) RelaxOrYield(spins);  // somebody is at it
  Slot* const slot = std::exchange(arrival.slot, nullptr);
  if (slot == nullptr) return;
  const CUresult result = slot->line->Wait();
  job.Note(result);
  if (result == CUDA_SUCCESS) {
    job.Touch([&] {
      const char* from = slot->bytes;
      for (const KernelPiece& piece : job.groups[group]) {
        kernels_.stream_copy(piece.dst, from, piece.size, kAskAhead);
        from += piece.size;
      }
    });
  }
  Return(slot);
}

void Staging::Run(Job& job, size_t group) {
  if (job.faulted.load(std::memory_order_relaxed)) return;
  job.gpu.Enter();
  job.to_device ? Fill(job, job.groups[group]) : Empty(job, group);
}

void Staging::Settle(Job& job) {
  std::vector<Slot*> slots;
  {
    // What came from the device was waited for by who emptied it.
    LockGuard lock(mutex_);
    if (job.to_device) slots.swap(idle_);
  }
  for (Job::Arrival& arrival : job.arrivals) {
    if (arrival.slot != nullptr) slots.push_back(arrival.slot);
  }
  for (Slot* slot : slots) {
    slot->line->gpu().Enter();
    job.Note(slot->line->Wait());
  }
  job.gpu.Enter();
  LockGuard lock(mutex_);
  idle_.insert(idle_.end(), slots.begin(), slots.end());
}

Staging::Outcome Staging::Copy(const Gpu& gpu, const std::vector<KernelPiece>& pieces, bool to_device) {
  size_t bytes = 0;
  for (const KernelPiece& piece : pieces) bytes += piece.size;
  const std::vector<Group> groups = Divide(pieces, GroupBytes(bytes));
  Job job{gpu, groups, to_device};
  struct Context {
    Staging* self;
    Job* job;
  } context{this, &job};
  sched::RangeWork work(
      groups.size(), 1,
      [](void* given, size_t begin, size_t) {
        auto& here = *static_cast<Context*>(given);
        here.self->Run(*here.job, begin);
      },
      &context);
  sharer_.Share(work, bytes / kBytesPerHand * kCallForHelpFrom);
  Settle(job);
  return {job.failure.load(), job.faulted.load(), job.fault.load()};
}

}  // namespace ropeway::cuda
