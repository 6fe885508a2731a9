// Two functions of a class that no header has, which one client links by their names: the device address of registered host memory.
#include "acl/acl.h"
#include "hccl/base/result.h"

namespace hccl {

class __attribute__((visibility("default"))) MemMappingManager {
 public:
  static MemMappingManager& GetInstance(int device);
  HcclResult GetDevVA(int device, void* host, unsigned long long size, void*& mapped);
};

MemMappingManager& MemMappingManager::GetInstance(int /*device*/) {
  static MemMappingManager manager;  // the runtime knows all registrations
  return manager;
}

// HCCL_E_PARA where the memory is not registered (aclrtHostRegister); `mapped` is untouched then.
HcclResult MemMappingManager::GetDevVA(int /*device*/, void* host, unsigned long long size, void*& mapped) {
  using namespace ropeway::comm;
  return Entry("hccl::MemMappingManager::GetDevVA", [&]() -> Status {
    RW_TRY(RequirePointer("host", host));
    void *first = nullptr, *last = nullptr;
    const bool known = size > 0 && aclrtHostGetDevicePointer(host, &first, 0) == ACL_SUCCESS &&
                       aclrtHostGetDevicePointer(static_cast<char*>(host) + size - 1, &last, 0) == ACL_SUCCESS &&
                       static_cast<char*>(last) - static_cast<char*>(first) == static_cast<long long>(size) - 1;
    if (!known) return Fail(HCCL_E_PARA, "[%p, + %llu bytes) is no registered host memory: call aclrtHostRegister first", host, size);
    mapped = first;
    return Ok();
  });
}

}  // namespace hccl
