// Virtual memory and sharing of physical memory (copy-and-memory.md 10.1, 10.2): not there yet.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoVirtualMemory = "virtual memory management is not there yet; use aclrtMalloc and aclrtFree";
constexpr const char* kNoSharing = "sharing memory between processes is not there yet; copy through host memory";

// Memory types that can be asked for by name of their pages; the plain DDR_MEM and HBM_MEM and the old P2P names
// cannot.
Status RequirePhysicalAttribute(const aclrtPhysicalMemProp& prop) {
  const bool on_device = prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  switch (prop.memAttr) {
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_HBM_MEM_HUGE1G:
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_NORMAL:
    case ACL_MEM_P2P_HUGE:
    case ACL_MEM_P2P_HUGE1G:
      return Ok();
    case ACL_DDR_MEM_HUGE:
    case ACL_DDR_MEM_NORMAL:
    case ACL_DDR_MEM_P2P_HUGE:
    case ACL_DDR_MEM_P2P_NORMAL:
      if (!on_device) return Ok();
      [[fallthrough]];
    default:
      return Reject(ACL_ERROR_INVALID_PARAM, "prop->memAttr %d cannot be allocated at a location of type %d",
                    static_cast<int>(prop.memAttr), static_cast<int>(prop.location.type));
  }
}

Status RequirePhysical(const aclrtPhysicalMemProp& prop) {
  RW_TRY(RequireRange(Layer::kOuter, "prop->handleType", prop.handleType, ACL_MEM_HANDLE_TYPE_NONE,
                      ACL_MEM_HANDLE_TYPE_NONE));
  RW_TRY(RequireRange(Layer::kOuter, "prop->allocationType", prop.allocationType, ACL_MEM_ALLOCATION_TYPE_PINNED,
                      ACL_MEM_ALLOCATION_TYPE_PINNED));
  const aclrtMemLocationType type = prop.location.type;
  if (type != ACL_MEM_LOCATION_TYPE_HOST && type != ACL_MEM_LOCATION_TYPE_DEVICE &&
      type != ACL_MEM_LOCATION_TYPE_HOST_NUMA)
    return Reject(ACL_ERROR_INVALID_PARAM, "prop->location.type %d is not HOST, DEVICE or HOST_NUMA",
                  static_cast<int>(type));
  RW_TRY(RequirePhysicalAttribute(prop));
  return type == ACL_MEM_LOCATION_TYPE_DEVICE ? FindDevice("prop->location.id", prop.location.id).status() : Ok();
}

Status RequireShareType(aclrtMemSharedHandleType shareType) {
  return RequireRange(Layer::kRuntime, "shareType", shareType, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                      ACL_MEM_SHARE_HANDLE_TYPE_FABRIC);
}

Status Reserve(void** virPtr, size_t size, uint64_t flags) {
  RW_TRY(RequirePointer("virPtr", virPtr));
  RW_TRY(RequireSome(Layer::kOuter, "size", size));
  return RequireRange(Layer::kOuter, "flags", static_cast<int64_t>(flags), 0, 1);
}

Status Map(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  RW_TRY(RequirePointers({{"virPtr", virPtr}, {"handle", handle}}));
  RW_TRY(RequireSome(Layer::kOuter, "size", size));
  RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
  RW_TRY(RequireZero(Layer::kRuntime, "offset", offset));
  return NotSupported(kNoVirtualMemory);
}

}  // namespace
}  // namespace ropeway::api

// --- Addresses
// ----------------------------------------------------------------------------------------------------------

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void*, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(Reserve(virPtr, size, flags));
    RW_TRY(RequireZero(Layer::kRuntime, "alignment", alignment));
    return NotSupported(kNoVirtualMemory);
  });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                          uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(Reserve(virPtr, size, flags));
    RW_TRY(RequireZero(Layer::kRuntime, "alignment", alignment));
    RW_TRY(RequireRuntimePointer("expectPtr", expectPtr));
    RW_TRY(RequireZero(Layer::kRuntime, "size modulo 1 GiB", size % (size_t{1} << 30)));
    return NotSupported(kNoVirtualMemory);
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) { return Refuse(__func__, kNoVirtualMemory, {{"virPtr", virPtr}}); }

// --- Physical memory
// ----------------------------------------------------------------------------------------------------

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"prop", prop}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY(RequirePhysical(*prop));
    return NotSupported(kNoVirtualMemory);
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return Refuse(__func__, kNoVirtualMemory, {{"handle", handle}});
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"prop", prop}, {"granularity", granularity}}));
    RW_TRY(RequirePhysical(*prop));
    RW_TRY(RequireRange(Layer::kRuntime, "option", option, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                        ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    return NotSupported(kNoVirtualMemory);
  });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return Refuse(__func__, kNoVirtualMemory, {{"virPtr", virPtr}, {"handle", handle}});
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp* prop) {
  return Refuse(__func__, kNoVirtualMemory, {{"handle", handle}, {"prop", prop}});
}

// --- Mappings
// -----------------------------------------------------------------------------------------------------------

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  return Entry(__func__, [&] { return Map(virPtr, size, offset, handle, flags); });
}

aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  return Entry(__func__, [&] { return Map(virPtr, size, offset, handle, flags); });
}

aclError aclrtUnmapMem(void* virPtr) { return Refuse(__func__, kNoVirtualMemory, {{"virPtr", virPtr}}); }

aclError aclrtMemSetAccess(void* virPtr, size_t, aclrtMemAccessDesc* desc, size_t count) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("virPtr", virPtr));
    RW_TRY(RequireRuntimePointer("desc", desc));
    RW_TRY(RequireSome(Layer::kRuntime, "count", count));
    return NotSupported(kNoVirtualMemory);
  });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
  return Refuse(__func__, kNoVirtualMemory, {{"virPtr", virPtr}, {"location", location}, {"flag", flag}});
}

aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"virPtrDst", virPtrDst}, {"virPtrSrc", virPtrSrc}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireRange(Layer::kOuter, "linkIdx", linkIdx, ACL_RT_MEM_LINK_IDX_0, ACL_RT_MEM_LINK_IDX_1));
    return NotSupported(kNoVirtualMemory);
  });
}

aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(RequireRange(Layer::kRuntime, "adviceLink", adviceLink, ACL_RT_MEM_ACCESS_LINK_SIO,
                        ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH));
    return NotSupported(kNoVirtualMemory);
  });
}

// --- Sharing between processes
// ------------------------------------------------------------------------------------------

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"shareableHandle", shareableHandle}}));
    RW_TRY(RequireRange(Layer::kOuter, "handleType", handleType, ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_HANDLE_TYPE_NONE));
    RW_TRY(RequireRange(Layer::kRuntime, "flags", static_cast<int64_t>(flags), 0, 1));
    return NotSupported(kNoSharing);
  });
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void* shareableHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"shareableHandle", shareableHandle}}));
    RW_TRY(RequireRange(Layer::kRuntime, "flags", static_cast<int64_t>(flags), 0, 1));
    RW_TRY(RequireShareType(shareType));
    return NotSupported(kNoSharing);
  });
}

aclError aclrtMemImportFromShareableHandle(uint64_t, int32_t deviceId, aclrtDrvMemHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    return NotSupported(kNoSharing);
  });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"shareableHandle", shareableHandle}, {"handle", handle}}));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY(CurrentContext().status());
    RW_TRY(RequireShareType(shareType));
    return NotSupported(kNoSharing);
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t, int32_t* pid, size_t pidNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pid", pid));
    RW_TRY(RequireSome(Layer::kOuter, "pidNum", pidNum));
    return NotSupported(kNoSharing);
  });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, int32_t* pid,
                                           size_t pidNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"shareableHandle", shareableHandle}, {"pid", pid}}));
    RW_TRY(RequireSome(Layer::kOuter, "pidNum", pidNum));
    RW_TRY(RequireShareType(shareType));
    return NotSupported(kNoSharing);
  });
}
