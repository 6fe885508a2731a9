// Names of the runtime from before acl_rt.h that programs still use: include/runtime/. Each stands for a function of today. Those that no
// public header has are in legacy.h.
#include <cstring>

#include "api/checks.h"
#include "runtime/dev.h"
#include "runtime/mem.h"
#include "runtime/stream.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

struct PolicyName {
  uint32_t bit;
  aclrtMemMallocPolicy policy;
};
constexpr PolicyName kPolicies[] = {
    {RT_MEMORY_POLICY_HUGE_PAGE_FIRST, ACL_MEM_MALLOC_HUGE_FIRST},
    {RT_MEMORY_POLICY_HUGE_PAGE_ONLY, ACL_MEM_MALLOC_HUGE_ONLY},
    {RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY},
    {RT_MEMORY_POLICY_HUGE_PAGE_FIRST_P2P, ACL_MEM_MALLOC_HUGE_FIRST_P2P},
    {RT_MEMORY_POLICY_HUGE_PAGE_ONLY_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P},
    {RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P, ACL_MEM_MALLOC_NORMAL_ONLY_P2P},
    {RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY},
    {RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY_P2P, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P},
};

// Of the memories that types name, the device's own is all there is.
Result<aclrtMemMallocPolicy> PolicyOf(rtMemType_t type) {
  const uint32_t memory = type & 0x3FF;
  if (memory > RT_MEMORY_DDR && memory != RT_MEMORY_P2P_HBM && memory != RT_MEMORY_P2P_DDR)
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "type 0x%x is not memory of the device (0 to 4, 0x10, 0x11); for the host there is rtMallocHost", type);
  for (const PolicyName& name : kPolicies) {
    if ((type & ~0x3FFU) == name.bit) return name.policy;
  }
  if ((type & ~0x3FFU) == RT_MEMORY_POLICY_NONE) return ACL_MEM_MALLOC_HUGE_FIRST;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "type 0x%x has more than one policy, or bits that are none", type);
}

Result<aclrtMemcpyKind> KindOf(rtMemcpyKind_t kind) {
  switch (kind) {
    case RT_MEMCPY_HOST_TO_HOST:
    case RT_MEMCPY_HOST_TO_DEVICE:
    case RT_MEMCPY_DEVICE_TO_HOST:
    case RT_MEMCPY_DEVICE_TO_DEVICE: return static_cast<aclrtMemcpyKind>(kind);
    case RT_MEMCPY_HOST_TO_DEVICE_EX: return ACL_MEMCPY_HOST_TO_DEVICE;
    case RT_MEMCPY_DEVICE_TO_HOST_EX: return ACL_MEMCPY_DEVICE_TO_HOST;
    case RT_MEMCPY_MANAGED:
    case RT_MEMCPY_DEFAULT: return ACL_MEMCPY_DEFAULT;
    default: break;
  }
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind %d is none that this call copies by (0 to 4, 6 to 8)", static_cast<int>(kind));
}

Status Describe(const aclrtPtrAttributes& now, rtPointerAttributes_t* attributes) {
  const bool on_device = now.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  const bool managed = now.location.type == ACL_MEM_LOCATION_TYPE_MANAGED;
  const bool pageable = now.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  attributes->memoryType = on_device  ? RT_MEMORY_TYPE_DEVICE
                           : managed  ? RT_MEMORY_TYPE_SVM
                           : pageable ? RT_MEMORY_TYPE_USER
                                      : RT_MEMORY_TYPE_HOST;
  attributes->locationType = static_cast<rtMemLocationType>(now.location.type);
  attributes->deviceID = now.location.id;
  attributes->pageSize = now.pageSize;
  return Ok();
}

// Translates what has another number today, and makes the call.
template <typename Translate, typename Forward>
[[gnu::always_inline]] inline rtError_t Forwarded(const char* call, Translate&& translate, Forward&& forward) {
  const aclError translated = Entry(call, translate);
  return translated == ACL_SUCCESS ? forward() : translated;
}

}  // namespace
}  // namespace ropeway::api

// --- Memory and copies --------------------------------------------------------------------------------------------------

rtError_t rtMalloc(void** devPtr, uint64_t size, rtMemType_t type, const uint16_t) {
  aclrtMemMallocPolicy policy{};
  auto translate = [&]() -> Status {
    RW_TRY_SET(policy, PolicyOf(type));
    return Ok();
  };
  return Forwarded(__func__, translate, [&] { return aclrtMalloc(devPtr, size, policy); });
}

rtError_t rtFree(void* devPtr) { return aclrtFree(devPtr); }
rtError_t rtMallocHost(void** hostPtr, uint64_t size, const uint16_t) { return aclrtMallocHost(hostPtr, size); }
rtError_t rtFreeHost(void* hostPtr) { return aclrtFreeHost(hostPtr); }

rtError_t rtMemcpy(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind) {
  aclrtMemcpyKind now{};
  auto translate = [&]() -> Status {
    RW_TRY_SET(now, KindOf(kind));
    return Ok();
  };
  return Forwarded(__func__, translate, [&] { return aclrtMemcpy(dst, destMax, src, cnt, now); });
}

rtError_t rtMemcpyAsync(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind, rtStream_t stm) {
  aclrtMemcpyKind now{};
  auto translate = [&]() -> Status {
    RW_TRY_SET(now, KindOf(kind));
    return Ok();
  };
  return Forwarded(__func__, translate, [&] { return aclrtMemcpyAsync(dst, destMax, src, cnt, now, stm); });
}

rtError_t rtPointerGetAttributes(rtPointerAttributes_t* attributes, const void* ptr) {
  aclrtPtrAttributes now{};
  const aclError asked = aclrtPointerGetAttributes(ptr, &now);
  if (asked != ACL_SUCCESS) return asked;
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("attributes", attributes));
    return Describe(now, attributes);
  });
}

// --- Devices and streams ------------------------------------------------------------------------------------------------

rtError_t rtSetDevice(int32_t devId) { return aclrtSetDevice(devId); }
rtError_t rtDeviceReset(int32_t devId) { return aclrtResetDevice(devId); }

rtError_t rtGetDevicePhyIdByIndex(uint32_t devIndex, uint32_t* phyId) {
  return aclrtGetPhyDevIdByUserDevId(static_cast<int32_t>(devIndex), reinterpret_cast<int32_t*>(phyId));
}

rtError_t rtGetSocVersion(char_t* ver, const uint32_t maxLen) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ver", ver));
    const char* name = aclrtGetSocName();
    const size_t length = std::strlen(name);
    if (maxLen <= length)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "maxLen %u is less than %zu, which the name and its end need", maxLen, length + 1);
    std::memcpy(ver, name, length + 1);
    return Ok();
  });
}

rtError_t rtStreamCreate(rtStream_t* stm, int32_t priority) { return aclrtCreateStreamWithConfig(stm, static_cast<uint32_t>(priority), 0); }

rtError_t rtStreamDestroy(rtStream_t stm) { return aclrtDestroyStream(stm); }
rtError_t rtStreamSynchronize(rtStream_t stm) { return aclrtSynchronizeStream(stm); }
