// Copies between device memory and pageable host memory, which the GPU cannot reach: several threads move the bytes through pinned slots,
// so that their memcpy and the link work at the same time.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cuda/cuda_line.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cuda {

class Staging {
 public:
  explicit Staging(WorkSharer& sharer);
  ~Staging();

  // Done when it returns. One side of every piece is device memory, all of them the same side.
  struct Outcome {
    CUresult result;  // the driver's
    bool faulted;     // some of the host memory is not there, and `fault` says where (base/host_touch.h)
    const void* fault;
  };
  Outcome Copy(const Gpu& gpu, const std::vector<KernelPiece>& pieces, bool to_device);

 private:
  struct Slot {
    std::unique_ptr<CudaLine> line;
    char* bytes = nullptr;
  };
  // What fits one slot: pieces, the last and the first cut where needed.
  using Group = std::vector<KernelPiece>;
  struct Job;
  static std::vector<Group> Divide(const std::vector<KernelPiece>& pieces, size_t group_bytes);
  // One whose line is this GPU's.
  Slot* Take(Job& job);
  void Return(Slot* slot);
  void Run(Job& job, size_t group);
  void Fill(Job& job, const Group& group);
  // From the device: begins a group's way into a slot unless somebody has; and takes it out of there.
  void Fetch(Job& job, size_t group);
  void Empty(Job& job, size_t group);
  // What was begun and nobody came for, and what is still on its way.
  void Settle(Job& job);

  WorkSharer& sharer_;
  const cpu::KernelTable& kernels_;
  Mutex mutex_{LockRank::kCudaStaging};
  std::vector<std::unique_ptr<Slot>> slots_ RW_GUARDED_BY(mutex_);
  std::vector<Slot*> idle_ RW_GUARDED_BY(mutex_);  // a slot in here may still be on its way to the device
};

}  // namespace ropeway::cuda
