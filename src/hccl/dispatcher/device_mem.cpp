// hccl::DeviceMem. Ownership follows the original, traps included: see mem_device_pub.h.
#include <utility>

#include "acl/acl.h"
#include "hccl/base/result.h"
#include "mem_device_pub.h"

using namespace ropeway::comm;

namespace hccl {
namespace {

aclError Allocate(u64 size, void** pointer) { return aclrtMalloc(pointer, size, ACL_MEM_MALLOC_HUGE_FIRST); }

}  // namespace

DeviceMem::DeviceMem(void* ptr, u64 size, bool owner) : ptr_(ptr), size_(size), owner_(owner) {}

DeviceMem::DeviceMem(const DeviceMem& that) : ptr_(that.ptr_), size_(that.size_) {}

DeviceMem::DeviceMem(DeviceMem&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)), size_(std::exchange(that.size_, 0)), owner_(std::exchange(that.owner_, false)) {}

DeviceMem::~DeviceMem() {
  if (owner_ && ptr_ != nullptr) aclrtFree(ptr_);
}

DeviceMem& DeviceMem::operator=(const DeviceMem& that) {
  if (this == &that) return *this;
  ptr_ = that.ptr_;
  size_ = that.size_;
  owner_ = false;
  return *this;
}

DeviceMem DeviceMem::operator=(DeviceMem&& that) {
  if (this != &that) {
    ptr_ = std::exchange(that.ptr_, nullptr);
    size_ = std::exchange(that.size_, 0);
    owner_ = std::exchange(that.owner_, false);
  }
  return DeviceMem(*this);
}

DeviceMem DeviceMem::alloc(u64 size, bool) {
  void* pointer = nullptr;
  if (Allocate(size, &pointer) != ACL_SUCCESS) pointer = nullptr;
  return DeviceMem(pointer, size, pointer != nullptr);
}

HcclResult DeviceMem::alloc(DeviceMem& mem, u64 size, bool) {
  return Entry("DeviceMem::alloc", [&]() -> Status {
    void* pointer = nullptr;
    const aclError code = Allocate(size, &pointer);
    if (code == ACL_ERROR_RT_MEMORY_ALLOCATION)
      return Fail(HCCL_E_OOM, "no device memory for %llu bytes; free some, or raise ROPEWAY_DEVICE_MEMORY", size);
    RW_TRY(FromRuntime("aclrtMalloc", code));
    mem = DeviceMem(pointer, size, true);
    return Ok();
  });
}

DeviceMem DeviceMem::create(void* ptr, u64 size) { return DeviceMem(ptr, size, false); }

void DeviceMem::free() {
  if (owner_ && ptr_ != nullptr) aclrtFree(ptr_);
  ptr_ = nullptr;
  owner_ = false;
}

// The sum may wrap in the original; here a range that wraps is not inside.
DeviceMem DeviceMem::range(u64 offset, u64 size) const {
  if (ptr_ == nullptr || offset > size_ || size > size_ - offset) return DeviceMem();
  return DeviceMem(static_cast<u8*>(ptr_) + offset, size, false);
}

}  // namespace hccl
