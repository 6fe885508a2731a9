// Addresses of the CUDA engine. Device windows are reserved in the address space that host and GPUs share, so a device address is
// the GPU's own and host code that touches it traps. Pinned host memory is registered with the driver and reached by the GPU at the
// same address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/cuda/cuda_pages.h"
#include "engine/cuda/driver.h"
#include "engine/engine_memory.h"

namespace ropeway::cuda {

class CudaMemory {
 public:
  explicit CudaMemory(const Driver& driver) : driver_(driver) {}

  void* ReserveDevices(size_t window, size_t size, uintptr_t wanted, int gpus);
  void* ReserveHost(size_t size);
  bool Commit(void* address, size_t size);
  void Decommit(void* address, size_t size);
  bool Register(void* address, size_t size);
  void Unregister(void* address);

  // Shared pages, as engine_memory.h has them; taken away by Decommit.
  std::shared_ptr<SharedPages> CreatePages(size_t size, EngineMemory::PagePlace place) const;
  std::shared_ptr<SharedPages> AdoptPages(int descriptor, size_t size) const { return CudaPages::Adopt(driver_, descriptor, size); }
  std::shared_ptr<SharedPages> SharePages(void* address, size_t size) const;
  bool MapPages(const SharedPages& pages, const EngineMemory::Mapping& mapping);

  EngineMemory::Refusal TakeRefusal() const;

  bool OnDevice(const void* address) const { return Offset(address) < device_size_; }
  // Host memory that the GPU reaches by itself.
  bool IsMapped(const void* address, size_t size) const {
    return InHostWindow(reinterpret_cast<uintptr_t>(address)) || IsRegistered(address, size);
  }
  int GpuOf(const void* address) const { return static_cast<int>(Offset(address) / window_size_) % gpus_; }

 private:
  struct Piece {
    size_t size;
    std::shared_ptr<CudaPages> pages;  // of device memory that was committed
  };
  uintptr_t Offset(const void* address) const { return reinterpret_cast<uintptr_t>(address) - device_base_; }
  bool InHostWindow(uintptr_t address) const { return address - host_base_ < host_size_; }
  // Whether the driver refused; then what it said is kept for TakeRefusal.
  bool Refused(CUresult result) const;
  bool IsRegistered(const void* address, size_t size) const;
  bool CommitDevice(uintptr_t address, size_t size);
  // In place of nothing, or of the same with another access.
  bool MapAt(uintptr_t address, const CudaPages& pages, bool host_access);
  bool GiveAccess(uintptr_t address, const CudaPages& pages, bool host_access) const;

  const Driver& driver_;
  int gpus_ = 1;
  uintptr_t device_base_ = 0;
  size_t device_size_ = 0;
  size_t window_size_ = 1;
  uintptr_t host_base_ = 0;
  size_t host_size_ = 0;
  mutable Mutex mutex_{LockRank::kCudaMemory};
  std::map<uintptr_t, Piece> pieces_ RW_GUARDED_BY(mutex_);       // committed, by address
  std::map<uintptr_t, size_t> registered_ RW_GUARDED_BY(mutex_);  // of the program
};

}  // namespace ropeway::cuda
