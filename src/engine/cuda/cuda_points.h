// Points of lines as the driver's events, which go round: making one costs more than recording it.
#pragma once

#include <memory>
#include <vector>

#include "base/spin_lock.h"
#include "engine/cuda/driver.h"
#include "engine/gate.h"

namespace ropeway::cuda {

struct Gpu;

// Of one GPU. Points keep it.
class CudaPoints : public std::enable_shared_from_this<CudaPoints> {
 public:
  explicit CudaPoints(const Driver& driver) : driver_(driver) {}
  ~CudaPoints();

  class Point final : public DevicePoint {
   public:
    Point(std::shared_ptr<CudaPoints> home, const Gpu& on) : gpu(on), home_(std::move(home)) {}
    ~Point() override { home_->GiveBack(event); }
    const Gpu& gpu;
    CUevent event = nullptr;

   private:
    const std::shared_ptr<CudaPoints> home_;
  };
  // The end of what the stream has now; null when the driver refuses. The GPU's context is current. May throw where there is no memory.
  std::shared_ptr<Point> Mark(const Gpu& gpu, CUstream stream);

 private:
  CUevent Take();
  void GiveBack(CUevent event);

  const Driver& driver_;
  SpinLock lock_{LockRank::kCudaPoints};
  std::vector<CUevent> idle_ RW_GUARDED_BY(lock_);
  size_t made_ RW_GUARDED_BY(lock_) = 0;
};

}  // namespace ropeway::cuda
