#include "engine/cuda/cuda_points.h"

namespace ropeway::cuda {

CudaPoints::~CudaPoints() {
  for (CUevent event : idle_) driver_.cuEventDestroy(event);
}

std::shared_ptr<CudaPoints::Point> CudaPoints::Mark(const Gpu& gpu, CUstream stream) {
  auto point = std::make_shared<Point>(shared_from_this(), gpu);
  point->event = Take();
  return point->event != nullptr && driver_.cuEventRecord(point->event, stream) == CUDA_SUCCESS ? point : nullptr;
}

CUevent CudaPoints::Take() {
  {
    LockGuard lock(lock_);
    if (!idle_.empty()) {
      const CUevent event = idle_.back();
      idle_.pop_back();
      return event;
    }
    idle_.reserve(++made_);  // all of them may come back
  }
  CUevent event = nullptr;
  return driver_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS ? event : nullptr;
}

// An event that somebody still follows may be recorded anew: who follows has been told what to wait for when it began.
void CudaPoints::GiveBack(CUevent event) {
  if (event == nullptr) return;
  LockGuard lock(lock_);
  idle_.push_back(event);
}

}  // namespace ropeway::cuda
