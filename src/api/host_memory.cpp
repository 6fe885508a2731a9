// Pinned and registered host memory (rules/host-memory.md).
#include "api/checks.h"
#include "api/entry.h"
#include "api/malloc_config.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kHugePagesFrom = size_t{2} << 20;

Status AllocateHost(void** hostPtr, uint64_t size, const char* call, const void* caller) {
  RW_TRY(MemoryFault(call, -1, size));
  std::optional<void*> block;
  if (size <= UINT64_MAX - 32) {
    HeapRequest request;
    request.reserved = (size + 31) / 32 * 32;
    request.huge_pages = size >= kHugePagesFrom;
    request.call = call;
    request.caller = ProgramCaller(caller);
    block = TheMemory().AllocateHost(request);
  }
  const EngineMemory::Refusal refusal = TheEngine().memory().TakeRefusal();
  if (!block) {
    const Heap::Usage usage = TheMemory().host_usage();
    return Fail(refusal.code != 0 ? refusal.code : ACL_ERROR_RT_MEMORY_ALLOCATION,
                "size %llu does not fit: %zu of %zu bytes of host memory can still be pinned%s", static_cast<unsigned long long>(size),
                usage.capacity - usage.bytes, usage.capacity, refusal.text.c_str());
  }
  *hostPtr = *block;
  return Ok();
}

Status RequirePointerAndSize(const char* name, const void* pointer, uint64_t size) {
  RW_TRY(RequirePointer(name, pointer));
  if (size == 0) return Reject(ACL_ERROR_INVALID_PARAM, "size is 0");
  return Ok();
}

Status FreePinned(void* hostPtr) {
  Runtime* runtime = Runtime::GetIfStarted();
  if (runtime != nullptr && runtime->memory().FreeHost(hostPtr)) return Ok();
  return RefuseFree(runtime, "hostPtr", hostPtr);
}

Status RequireHostRange(const void* ptr, uint64_t size) {
  const auto base = reinterpret_cast<uintptr_t>(ptr);
  if (size > UINTPTR_MAX - base)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p + size %llu leaves the address space", ptr, static_cast<unsigned long long>(size));
  if (TheMemory().InDeviceSpace(ptr))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is a device address; only host memory can be registered", ptr);
  if (TheMemory().managed() != nullptr && TheMemory().managed()->Contains(ptr))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is managed memory, which devices reach without being registered", ptr);
  return Ok();
}

// Memory of aclrtMallocHost is pinned already; its window belongs to the runtime alone.
bool TouchesPinnedBlock(const char* base, uint64_t size) {
  return TheMemory().InHostSpace(base) || TheMemory().InHostSpace(base + size - 1);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointerAndSize("hostPtr", hostPtr, size));
    RW_TRY(CurrentContext().status());
    return AllocateHost(hostPtr, size, "aclrtMallocHost", caller);
  });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointerAndSize("ptr", ptr, size));
    RW_TRY(RequireHostAttributes(cfg));
    RW_TRY(CurrentContext().status());
    if (WantsEqualAddresses(cfg))
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "vaFlag 1 in cfg: host and device addresses are never equal here");
    return AllocateHost(ptr, size, "aclrtMallocHostWithCfg", caller);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("hostPtr", hostPtr));
    return FreePinned(hostPtr);
  });
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("hostPtr", hostPtr));
    RW_TRY(SynchronizeCurrentDevice(Deadline::Never()));
    return FreePinned(hostPtr);
  });
}

// --- Registration -------------------------------------------------------------------------------------------------------

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequirePointer("devPtr", devPtr));
    if (size == 0) return Reject(ACL_ERROR_INVALID_PARAM, "size is 0");
    constexpr unsigned kKnown = ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY;
    if ((static_cast<unsigned>(type) & ~kKnown) != 0)
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "type 0x%x has bits outside 0x%x", static_cast<unsigned>(type), kKnown);
    RW_TRY(CurrentContext().status());
    RW_TRY(RequireHostRange(ptr, size));
    uintptr_t alias = 0;
    RW_TRY(TheMemory().Register(ptr, size, {true, (type & ACL_HOST_REGISTER_READONLY) != 0}, &alias));
    *devPtr = reinterpret_cast<void*>(alias);
    return Ok();
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointerAndSize("ptr", ptr, size));
    constexpr uint32_t kMapped = ACL_HOST_REG_MAPPED;
    constexpr uint32_t kPinned = ACL_HOST_REG_PINNED;
    constexpr uint32_t kKnown = kMapped | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | kPinned;
    if (flag == 0 || (flag & ~kKnown) != 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x must be an OR of 0x2, 0x4, 0x8 and 0x10000000", flag);
    RW_TRY(CurrentContext().status());
    RW_TRY(RequireHostRange(ptr, size));
    if ((flag & kPinned) != 0 && TouchesPinnedBlock(static_cast<const char*>(ptr), size))
      return Fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "ptr %p + size %llu holds memory that is pinned already", ptr,
                  static_cast<unsigned long long>(size));
    return TheMemory().Register(ptr, size, {(flag & kMapped) != 0, (flag & ACL_HOST_REG_READONLY) != 0}, nullptr);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(CurrentContext().status());
    return TheMemory().Unregister(ptr);
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pHost", pHost));
    RW_TRY(RequirePointer("pDevice", pDevice));
    if (flag != 0) return Reject(ACL_ERROR_INVALID_PARAM, "flag %u must be 0", flag);
    RW_TRY(CurrentContext().status());
    const Registration registration = TheMemory().FindRegistration(pHost);
    if (registration.alias == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "pHost %p is not registered as mapped; use aclrtHostRegister, or V2 with ACL_HOST_REG_MAPPED",
                  pHost);
    *pDevice = reinterpret_cast<void*>(registration.alias + (reinterpret_cast<uintptr_t>(pHost) - registration.base));
    return Ok();
  });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability* capabilities) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("capabilities", capabilities));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    if (hacType < ACL_RT_HAC_TYPE_STARS || hacType > ACL_RT_HAC_TYPE_CCU)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "hacType %d is not one of 0 to 9", static_cast<int>(hacType));
    RW_TRY(CurrentContext().status());
    *capabilities = ACL_RT_HOST_MEM_MAP_SUPPORTED;
    return Ok();
  });
}
