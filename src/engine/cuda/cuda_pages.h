// Memory that the driver hands out as a whole, of a GPU or of the host: the same bytes at several addresses, and in several processes. The
// driver maps all of it or nothing.
#pragma once

#include <atomic>
#include <memory>

#include "engine/cuda/driver.h"
#include "engine/shared_pages.h"

namespace ropeway::cuda {

class CudaPages final : public SharedPages {
 public:
  // Null, and `result` says why.
  static std::shared_ptr<CudaPages> Create(const Driver& driver, size_t size, CUmemLocation place, CUresult* result);
  // Takes the descriptor over; null (and closed) when no driver has given it. Whether it is of this size is seen when it is mapped.
  static std::shared_ptr<CudaPages> Adopt(const Driver& driver, int descriptor, size_t size);
  CudaPages(const Driver& driver, size_t size) : SharedPages(size), driver_(driver) {}
  ~CudaPages() override;

  // Made when it is first asked for: most memory is never shared. -1: the driver refuses.
  int descriptor() const override;
  CUmemGenericAllocationHandle handle() const { return handle_; }
  const CUmemLocation& place() const { return place_; }
  bool on_host() const { return place_.type == CU_MEM_LOCATION_TYPE_HOST_NUMA; }

 private:
  const Driver& driver_;
  CUmemGenericAllocationHandle handle_ = 0;
  CUmemLocation place_{};
  mutable std::atomic<int> descriptor_{-1};
};

}  // namespace ropeway::cuda
