#include "hccl/dispatcher/host_copy.h"

#include <cstring>

#include "acl/acl.h"
#include "hccl/link/remote_range.h"

namespace ropeway::comm {
namespace {

constexpr uint64_t kMaxBytes = 0x7FFFFFFF;  // what bounded copies of the C library's annex K style accept

unsigned long long Wide(uint64_t value) { return value; }

// Whether an address is for the runtime to touch. A freed device address is refused here instead of killing the process.
Status IsRuntimeMemory(const void* address, bool* answer) {
  aclrtPtrAttributes attributes{};
  RW_TRY(FromRuntime("aclrtPointerGetAttributes", aclrtPointerGetAttributes(address, &attributes)));
  *answer = attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  return Ok();
}

bool Overlap(const void* dst, const void* src, uint64_t count) {
  const auto to = reinterpret_cast<uintptr_t>(dst);
  const auto from = reinterpret_cast<uintptr_t>(src);
  return to < from ? from - to < count : to - from < count;
}

Status Clear(void* dst, uint64_t dest_max) {
  bool on_device = false;
  RW_TRY(IsRuntimeMemory(dst, &on_device));
  if (on_device) return FromRuntime("aclrtMemset", aclrtMemset(dst, dest_max, 0, dest_max));
  std::memset(dst, 0, dest_max);
  return Ok();
}

// Another host's memory: queued on the default stream, and waited for, because this call is synchronous.
bool CopyRemote(void* dst, const void* src, uint64_t count, Status* status) {
  if (!RouteRemote(dst, src, count, nullptr, status)) return false;
  if (status->ok()) *status = FromRuntime("aclrtSynchronizeStream", aclrtSynchronizeStream(nullptr));
  return true;
}

Status Move(void* dst, uint64_t dest_max, const void* src, uint64_t count) {
  Status remote;
  if (CopyRemote(dst, src, count, &remote)) return remote;
  bool to_device = false;
  bool from_device = false;
  RW_TRY(IsRuntimeMemory(dst, &to_device));
  RW_TRY(IsRuntimeMemory(src, &from_device));
  if (!to_device && !from_device) {
    std::memcpy(dst, src, count);
    return Ok();
  }
  const aclrtMemcpyKind kind = !to_device     ? ACL_MEMCPY_DEVICE_TO_HOST
                               : !from_device ? ACL_MEMCPY_HOST_TO_DEVICE
                                              : ACL_MEMCPY_DEVICE_TO_DEVICE;
  return FromRuntime("aclrtMemcpy", aclrtMemcpy(dst, dest_max, src, count, kind));
}

}  // namespace

Status CopyOnHost(void* dst, uint64_t dest_max, const void* src, uint64_t count) {
  if (dest_max == 0 || dest_max > kMaxBytes)
    return Fail(HCCL_E_INTERNAL, "destMax %llu is not 1 to %llu, which a copy without a stream needs", Wide(dest_max), Wide(kMaxBytes));
  if (count > dest_max) {
    RW_TRY(Clear(dst, dest_max));
    return Fail(HCCL_E_INTERNAL, "count %llu exceeds destMax %llu; dst was cleared", Wide(count), Wide(dest_max));
  }
  if (dst == src || count == 0) return Ok();
  if (Overlap(dst, src, count)) {
    RW_TRY(Clear(dst, dest_max));
    return Fail(HCCL_E_INTERNAL, "dst %p and src %p overlap within %llu bytes; dst was cleared", dst, src, Wide(count));
  }
  return Move(dst, dest_max, src, count);
}

}  // namespace ropeway::comm
