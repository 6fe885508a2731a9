#include "engine/cuda/cuda_memory.h"

#include <sys/mman.h>

#include <algorithm>
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
  pieces_[base] = {size, nullptr};
  return true;
}

bool CudaMemory::CommitDevice(uintptr_t address, size_t size) {
  CUresult result;
  auto pages = CudaPages::Create(driver_, size, {CU_MEM_LOCATION_TYPE_DEVICE, GpuOf(reinterpret_cast<void*>(address))}, &result);
  if (Refused(result) || !MapAt(address, *pages, false)) return false;
  LockGuard lock(mutex_);
  pieces_[address].pages = std::move(pages);
  return true;
}

bool CudaMemory::MapAt(uintptr_t address, const CudaPages& pages, bool host_access) {
  LockGuard lock(mutex_);
  const auto [piece, fresh] = pieces_.try_emplace(address, Piece{pages.size(), nullptr});
  if (!fresh) return GiveAccess(address, pages, host_access);
  const bool mapped = !Refused(driver_.cuMemMap(address, pages.size(), 0, pages.handle(), 0));
  if (mapped && GiveAccess(address, pages, host_access)) return true;
  if (mapped) driver_.cuMemUnmap(address, pages.size());
  pieces_.erase(piece);
  return false;
}

// To all GPUs that can have it. The host reaches its own memory only, wherever that is mapped; the driver gives it no access to a GPU's.
bool CudaMemory::GiveAccess(uintptr_t address, const CudaPages& pages, bool host_access) const {
  std::vector<CUmemAccessDesc> access;
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    int reaches = 1;
    if (!pages.on_host() && gpu != pages.place().id) driver_.cuDeviceCanAccessPeer(&reaches, gpu, pages.place().id);
    if (reaches != 0) access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, gpu}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  if (pages.on_host()) {
    access.push_back({pages.place(), host_access ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE});
  } else if (host_access) {
    t_refusal = {CodeOfCall(CUDA_ERROR_NOT_SUPPORTED),
                 ": host code cannot use the memory of an NVIDIA GPU; copy it, or use memory of the host"};
    return false;
  }
  return !Refused(driver_.cuMemSetAccess(address, pages.size(), access.data(), access.size()));
}

std::shared_ptr<SharedPages> CudaMemory::CreatePages(size_t size, EngineMemory::PagePlace place) const {
  int node = place.numa_node;
  if (place.device < 0 && node < 0 && Refused(driver_.cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0))) return nullptr;
  const CUmemLocation where = place.device < 0 ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST_NUMA, std::max(node, 0)}
                                               : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, place.device % gpus_};
  CUresult result;
  auto pages = CudaPages::Create(driver_, size, where, &result);
  return Refused(result) ? nullptr : pages;
}

std::shared_ptr<SharedPages> CudaMemory::SharePages(void* address, size_t size) const {
  LockGuard lock(mutex_);
  const auto piece = pieces_.find(reinterpret_cast<uintptr_t>(address));
  return piece != pieces_.end() && piece->second.size == size ? piece->second.pages : nullptr;
}

bool CudaMemory::MapPages(const SharedPages& pages, const EngineMemory::Mapping& mapping) {
  if (mapping.offset != 0 || mapping.size != pages.size()) return false;
  return MapAt(reinterpret_cast<uintptr_t>(mapping.address), static_cast<const CudaPages&>(pages), mapping.host_access);
}

void CudaMemory::Decommit(void* address, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  LockGuard lock(mutex_);
  auto it = pieces_.lower_bound(begin);
  while (it != pieces_.end() && it->first < begin + size) {
    if (OnDevice(address)) {
      driver_.cuMemUnmap(it->first, it->second.size);
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
