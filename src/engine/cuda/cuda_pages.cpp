#include "engine/cuda/cuda_pages.h"

#include <fcntl.h>
#include <unistd.h>

namespace ropeway::cuda {
namespace {

constexpr CUmemAllocationHandleType kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

}  // namespace

std::shared_ptr<CudaPages> CudaPages::Create(const Driver& driver, size_t size, CUmemLocation place, CUresult* result) {
  auto pages = std::make_shared<CudaPages>(driver, size);
  CUmemAllocationProp traits{};
  traits.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  traits.location = pages->place_ = place;
  traits.requestedHandleTypes = kDescriptor;
  *result = driver.cuMemCreate(&pages->handle_, size, &traits, 0);
  return *result == CUDA_SUCCESS ? pages : nullptr;
}

std::shared_ptr<CudaPages> CudaPages::Adopt(const Driver& driver, int descriptor, size_t size) {
  std::shared_ptr<CudaPages> pages;
  try {
    pages = std::make_shared<CudaPages>(driver, size);
  } catch (...) {
    close(descriptor);
    throw;
  }
  pages->descriptor_ = descriptor;
  CUmemAllocationProp traits{};
  void* const given = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
  if (driver.cuMemImportFromShareableHandle(&pages->handle_, given, kDescriptor) != CUDA_SUCCESS) return nullptr;
  if (driver.cuMemGetAllocationPropertiesFromHandle(&traits, pages->handle_) != CUDA_SUCCESS) return nullptr;
  pages->place_ = traits.location;
  return pages;
}

CudaPages::~CudaPages() {
  if (descriptor_ >= 0) close(descriptor_);
  if (handle_ != 0) driver_.cuMemRelease(handle_);  // what is mapped stays
}

int CudaPages::descriptor() const {
  int known = descriptor_.load(std::memory_order_acquire);
  if (known >= 0) return known;
  int mine = -1;
  if (driver_.cuMemExportToShareableHandle(&mine, handle_, kDescriptor, 0) != CUDA_SUCCESS) return -1;
  fcntl(mine, F_SETFD, FD_CLOEXEC);
  if (descriptor_.compare_exchange_strong(known, mine, std::memory_order_acq_rel)) return mine;
  close(mine);
  return known;
}

}  // namespace ropeway::cuda
