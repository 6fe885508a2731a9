// Moves bytes with NVIDIA GPUs. Device memory is the GPU's own, small copies and batches go by a gather kernel, large ones by the copy
// engines, pageable memory through pinned slots.
#pragma once

#include <memory>
#include <vector>

#include "base/host_touch.h"
#include "base/mutex.h"
#include "engine/backend.h"
#include "engine/cuda/cuda_line.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/staging.h"

namespace ropeway::cuda {

class CudaBackend final : public Backend {
 public:
  // `driver` is loaded, and `gpus` is what it counts. Null when a GPU cannot be set up.
  static std::unique_ptr<CudaBackend> Create(const Driver& driver, int gpus, WorkSharer& sharer, unsigned ctas);

  const Traits& traits() const override { return kTraits; }
  void* ReserveDevices(size_t window, size_t size, uintptr_t wanted) override;
  void* ReserveHost(size_t size) override { return memory_.ReserveHost(size); }
  bool Commit(void* address, size_t size, bool huge_pages) override;
  void Decommit(void* address, size_t size) override;
  bool Register(void* address, size_t size) override;
  void Unregister(void* address) override;
  Refusal TakeRefusal() override { return memory_.TakeRefusal(); }
  void* HostView(const void*, size_t) override { return nullptr; }
  std::shared_ptr<SharedPages> CreatePages(size_t size, PagePlace place) override;
  std::shared_ptr<SharedPages> AdoptPages(int descriptor, size_t size) override;
  std::shared_ptr<SharedPages> SharePages(void* address, size_t size) override { return memory_.SharePages(address, size); }
  bool MapPages(const SharedPages& pages, const Mapping& mapping) override;
  void UnmapPages(void* address, size_t size) override { Decommit(address, size); }
  bool maps_parts() const override { return false; }
  bool LeaveTouch(const siginfo_t& fault, void* context) const override { return ropeway::LeaveTouch(fault, context); }
  void SetJudge(const AddressJudge* judge) override { judge_ = judge; }

  std::unique_ptr<Line> NewLine() override;
  int Start(const Task& task, const Behind&, Line* line, TaskFailure* failure) override;
  int Finish(Line* line, TaskFailure* failure) override;
  bool finishes_at_once() const override { return false; }
  bool StartsSoon(const Task& task) const override;
  void Hurry(Line* line) override;
  uint64_t LoadWord(const void* address) override;
  bool has_points() const override { return true; }
  std::shared_ptr<DevicePoint> MarkPoint(Line* line) override;
  bool Follow(Line* line, const DevicePoint& point) override;
  int FinishUpTo(const DevicePoint& point, const std::function<void()>& meanwhile, TaskFailure* failure) override;

 private:
  // The CPU's sizes do not matter here: a line decides by itself.
  static constexpr Traits kTraits = {"cuda", SIZE_MAX, SIZE_MAX, true};

  CudaBackend(const Driver& driver, WorkSharer& sharer) : driver_(driver), sharer_(sharer), memory_(driver) {}
  // Every thread that talks to the driver needs the context.
  void Enter() const { gpu_.Enter(); }
  // The line goes to the GPU that has the memory.
  void Place(CudaLine& line, const void* dst, const void* src) const;
  bool Reaches(const void* address, size_t size) const { return memory_.OnDevice(address) || memory_.IsMapped(address, size); }
  // The program's memory, behind what the line still does: through the slots, or between host memory by `move`. 507052 when it is not
  // there.
  int Stage(CudaLine& line, const std::vector<KernelPiece>& pieces, TaskFailure* failure);
  // The same for one small piece, by the calling thread alone.
  int StageSmall(CudaLine& line, const KernelPiece& piece, TaskFailure* failure);
  template <class Move>
  int TouchAfter(CudaLine& line, const TouchedRange& range, TaskFailure* failure, Move move);
  int CopyOne(CudaLine& line, void* dst, const void* src, size_t size, TaskFailure* failure);
  int CopyBatch(CudaLine& line, const Task& task, TaskFailure* failure);
  int CopyRows(CudaLine& line, const Task& task, TaskFailure* failure);
  int StageRows(CudaLine& line, const Task& task, TaskFailure* failure);
  int CopyLate(CudaLine& line, const Task& task, TaskFailure* failure);
  int Set(CudaLine& line, const Task& task, TaskFailure* failure);
  void Reduce(CudaLine& line, const Task& task);
  int Report(CUresult result, TaskFailure* failure) const;

  const Driver& driver_;
  WorkSharer& sharer_;
  CudaMemory memory_;
  Gpu gpu_;
  std::vector<std::unique_ptr<Gpu>> others_;  // behind the first
  const AddressJudge* judge_ = nullptr;
  std::unique_ptr<Staging> staging_;
  Mutex word_mutex_{LockRank::kCudaWordLine};
  std::unique_ptr<CudaLine> word_line_ RW_GUARDED_BY(word_mutex_);
};

}  // namespace ropeway::cuda
