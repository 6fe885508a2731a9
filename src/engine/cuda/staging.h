// Copies between device memory and pageable host memory, which the GPU cannot reach: several threads move the bytes through pinned slots,
// so that their memcpy and the link work at the same time.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/cuda/cuda_line.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cuda {

class Staging {
 public:
  Staging(const Gpu& gpu, WorkSharer& sharer) : gpu_(gpu), sharer_(sharer) {}
  ~Staging();

  // Done when it returns. One side of every piece is device memory, all of them the same side.
  struct Outcome {
    CUresult result;  // the driver's
    bool faulted;     // some of the host memory is not there, and `fault` says where (base/host_touch.h)
    const void* fault;
  };
  Outcome Copy(const std::vector<KernelPiece>& pieces, bool to_device);

 private:
  static constexpr size_t kSlotBytes = size_t{4} << 20;
  struct Slot {
    std::unique_ptr<CudaLine> line;
    char* bytes = nullptr;
  };
  // What fits one slot: pieces, the last and the first cut where needed.
  using Group = std::vector<KernelPiece>;
  struct Job;
  static std::vector<Group> Divide(const std::vector<KernelPiece>& pieces);
  Slot* Take();
  void Return(Slot* slot);
  static void Fill(Job& job, Slot& slot, const Group& group);
  static void Empty(Job& job, Slot& slot, const Group& group);

  const Gpu& gpu_;
  WorkSharer& sharer_;
  Mutex mutex_{LockRank::kCudaStaging};
  std::vector<std::unique_ptr<Slot>> slots_ RW_GUARDED_BY(mutex_);
  std::vector<Slot*> idle_ RW_GUARDED_BY(mutex_);  // a slot in here may still be on its way to the device
};

}  // namespace ropeway::cuda
