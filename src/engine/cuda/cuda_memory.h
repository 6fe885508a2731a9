// Addresses of the CUDA engine. Device windows are reserved in the address space that host and GPUs share, so a device address is
// the GPU's own and host code that touches it traps. Pinned host memory is registered with the driver and reached by the GPU at the
// same address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/mutex.h"
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
    CUmemGenericAllocationHandle handle;  // of device memory
  };
  uintptr_t Offset(const void* address) const { return reinterpret_cast<uintptr_t>(address) - device_base_; }
  bool InHostWindow(uintptr_t address) const { return address - host_base_ < host_size_; }
  // Whether the driver refused; then what it said is kept for TakeRefusal.
  bool Refused(CUresult result) const;
  bool IsRegistered(const void* address, size_t size) const;
  bool CommitDevice(uintptr_t address, size_t size);
  void DropDevice(uintptr_t address, const Piece& piece);

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
