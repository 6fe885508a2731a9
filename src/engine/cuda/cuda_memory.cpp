#include "engine/cuda/cuda_memory.h"

#include <sys/mman.h>

#include <utility>

#include "engine/cuda/error_codes.h"

namespace ropeway::cuda {
namespace {

constexpr unsigned kPinned = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;

thread_local EngineMemory::Refusal t_refusal;

}  // namespace

bool CudaMemory::Refused(CUresult result) const {
  if (result == CUDA_SUCCESS) return false;
  t_refusal = {CodeOfCall(result), ", and the NVIDIA driver says " + driver_.Text(result)};
  return true;
}

EngineMemory::Refusal CudaMemory::TakeRefusal() const { return std::exchange(t_refusal, {}); }

void* CudaMemory::ReserveDevices(size_t window, size_t size, uintptr_t wanted, int gpus) {
  CUdeviceptr base = 0;
  if (driver_.cuMemAddressReserve(&base, size, 0, wanted, 0) != CUDA_SUCCESS) return nullptr;
  if (wanted != 0 && base != wanted) {  // it was no more than a hint
    driver_.cuMemAddressFree(base, size);
    return nullptr;
  }
  device_base_ = base;
  device_size_ = size;
  window_size_ = window;
  gpus_ = gpus;
  return reinterpret_cast<void*>(base);
}

void* CudaMemory::ReserveHost(size_t size) {
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  madvise(base, size, MADV_DONTDUMP);  // core files have what is committed
  host_base_ = reinterpret_cast<uintptr_t>(base);
  host_size_ = size;
  return base;
}

bool CudaMemory::Commit(void* address, size_t size) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  if (OnDevice(address)) return CommitDevice(base, size);
  madvise(address, size, MADV_HUGEPAGE);  // fewer translations for the GPU, too, when it reaches for scattered blocks
  madvise(address, size, MADV_DODUMP);
  if (Refused(driver_.cuMemHostRegister(address, size, kPinned))) return false;
  LockGuard lock(mutex_);
  pieces_[base] = {size, 0};
  return true;
}

bool CudaMemory::CommitDevice(uintptr_t address, size_t size) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, GpuOf(reinterpret_cast<void*>(address))};
  CUmemGenericAllocationHandle handle = 0;
  if (Refused(driver_.cuMemCreate(&handle, size, &prop, 0))) return false;
  std::vector<CUmemAccessDesc> access(static_cast<size_t>(gpus_));
  for (int gpu = 0; gpu < gpus_; ++gpu)
    access[static_cast<size_t>(gpu)] = {{CU_MEM_LOCATION_TYPE_DEVICE, gpu}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (Refused(driver_.cuMemMap(address, size, 0, handle, 0))) {
    driver_.cuMemRelease(handle);
    return false;
  }
  if (Refused(driver_.cuMemSetAccess(address, size, access.data(), access.size()))) {
    DropDevice(address, {size, handle});
    return false;
  }
  LockGuard lock(mutex_);
  pieces_[address] = {size, handle};
  return true;
}

void CudaMemory::DropDevice(uintptr_t address, const Piece& piece) {
  driver_.cuMemUnmap(address, piece.size);
  driver_.cuMemRelease(piece.handle);
}

void CudaMemory::Decommit(void* address, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  LockGuard lock(mutex_);
  auto it = pieces_.lower_bound(begin);
  while (it != pieces_.end() && it->first < begin + size) {
    if (OnDevice(address)) {
      DropDevice(it->first, it->second);
    } else {
      driver_.cuMemHostUnregister(reinterpret_cast<void*>(it->first));
      madvise(reinterpret_cast<void*>(it->first), it->second.size, MADV_DONTNEED);
    }
    it = pieces_.erase(it);
  }
}

bool CudaMemory::Register(void* address, size_t size) {
  const CUresult result = driver_.cuMemHostRegister(address, size, kPinned);
  // A page that another registration has pinned already: the range is good for the copy engines, not for kernels.
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return true;
  if (Refused(result)) return false;
  LockGuard lock(mutex_);
  registered_[reinterpret_cast<uintptr_t>(address)] = size;
  return true;
}

void CudaMemory::Unregister(void* address) {
  {
    LockGuard lock(mutex_);
    if (registered_.erase(reinterpret_cast<uintptr_t>(address)) == 0) return;
  }
  driver_.cuMemHostUnregister(address);
}

bool CudaMemory::IsRegistered(const void* address, size_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  LockGuard lock(mutex_);
  auto it = registered_.upper_bound(begin);
  if (it == registered_.begin()) return false;
  --it;
  return begin - it->first < it->second && size <= it->second - (begin - it->first);
}

}  // namespace ropeway::cuda
