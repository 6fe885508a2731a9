// What virtual memory and its sharing (copy-and-memory.md 10.1, 10.2) cannot do here: choose links, and for now share.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoLinks = "there is no link to choose between devices that are memory of one machine; map without it";
constexpr const char* kNoSharing = "sharing memory between processes is not there yet; copy through host memory";

Status RequireShareType(aclrtMemSharedHandleType shareType) {
  return RequireRange(Layer::kRuntime, "shareType", shareType, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                      ACL_MEM_SHARE_HANDLE_TYPE_FABRIC);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"virPtrDst", virPtrDst}, {"virPtrSrc", virPtrSrc}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireRange(Layer::kOuter, "linkIdx", linkIdx, ACL_RT_MEM_LINK_IDX_0, ACL_RT_MEM_LINK_IDX_1));
    return NotSupported(kNoLinks);
  });
}

aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(RequireRange(Layer::kRuntime, "adviceLink", adviceLink, ACL_RT_MEM_ACCESS_LINK_SIO,
                        ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH));
    return NotSupported(kNoLinks);
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
