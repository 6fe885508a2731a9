// Copies between device memory and pageable host memory, which the GPU cannot reach: several threads move the bytes through pinned slots,
// so that their memcpy and the link work at the same time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/cuda/cuda_line.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cuda {

class Staging {
 public:
  Staging(const Gpu& gpu, WorkSharer& sharer) : gpu_(gpu), sharer_(sharer) {}
  ~Staging();

  // Done when it returns. One side of every piece is device memory, all of them the same side.
  CUresult Copy(const std::vector<KernelPiece>& pieces, bool to_device);

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
  CUresult Fill(Slot& slot, const Group& group);
  CUresult Empty(Slot& slot, const Group& group);

  const Gpu& gpu_;
  WorkSharer& sharer_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> idle_;  // guarded by mutex_; a slot in here may still be on its way to the device
};

}  // namespace ropeway::cuda
