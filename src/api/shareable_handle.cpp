// Sharing physical memory between processes (rules/virtual-memory.md 2).
#include <cstring>

#include "api/checks.h"
#include "api/virtual_memory_checks.h"
#include "ipc/number.h"
#include "memory/physical_share.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

static_assert(sizeof(aclrtMemFabricHandle) >= ipc::Key::kRoom);

Status RequireShareType(aclrtMemSharedHandleType shareType) {
  RW_TRY(RequireRange(Layer::kRuntime, "shareType", shareType, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC));
  if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || ThisProduct().has_fabric) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "shareType FABRIC (2) needs an A3 product; use DEFAULT (1)");
}

Status RequireExportFlags(uint64_t flags) { return RequireRange(Layer::kRuntime, "flags", static_cast<int64_t>(flags), 0, 1); }

Result<ShareableHandle> Export(aclrtDrvMemHandle handle, uint64_t flags, bool as_number) {
  RW_TRY_SET(VirtualMemory * keeper, TheVirtualMemory());
  RW_TRY_SET(std::shared_ptr<PhysicalMemory> memory, keeper->Find(handle));
  return ExportPhysical(*memory, as_number, flags == ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
}

// The key behind what a caller holds.
Result<ipc::Key> KeyOf(const void* shareableHandle, aclrtMemSharedHandleType shareType) {
  if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) return ipc::Key::Parse(static_cast<const char*>(shareableHandle));
  uint64_t number;
  std::memcpy(&number, shareableHandle, sizeof(number));
  return ipc::KeyOfNumber(number);
}

// From now on both devices reach each other's memory.
void Befriend(int one, int other) {
  if (one == other || other < 0 || other >= ThisMachine().devices) return;
  Runtime::Get().device(one).SetPeer(other, true);
  Runtime::Get().device(other).SetPeer(one, true);
}

// Numbers are for other processes; programs import fabric handles where they made them, too.
Status Import(const ipc::Key& key, aclrtMemSharedHandleType shareType, int device, const Context& context, aclrtDrvMemHandle* handle) {
  RW_TRY_SET(VirtualMemory * keeper, TheVirtualMemory());
  const bool own_too = shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
  RW_TRY_SET(ImportedPhysical imported, ImportPhysical(key, TheEngine(), device, Runtime::UserIdOf(device), own_too));
  RW_TRY(keeper->Publish(std::move(imported.memory), handle));
  Befriend(context.device(), imported.exporters_device);
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"shareableHandle", shareableHandle}}));
    RW_TRY(RequireRange(Layer::kOuter, "handleType", handleType, ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_HANDLE_TYPE_NONE));
    RW_TRY(RequireExportFlags(flags));
    RW_TRY_SET(ShareableHandle made, Export(handle, flags, true));
    *shareableHandle = made.number;
    return Ok();
  });
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void* shareableHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"shareableHandle", shareableHandle}}));
    RW_TRY(RequireExportFlags(flags));
    RW_TRY(RequireShareType(shareType));
    const bool as_number = shareType == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
    if (!as_number) RW_TRY(CurrentContext().status());
    RW_TRY_SET(ShareableHandle made, Export(handle, flags, as_number));
    if (as_number) {
      std::memcpy(shareableHandle, &made.number, sizeof(made.number));
      return Ok();
    }
    aclrtMemFabricHandle fabric{};
    char text[ipc::Key::kRoom];
    made.key.Write(text);
    std::memcpy(fabric.data, text, ipc::Key::kLength);
    std::memcpy(shareableHandle, &fabric, sizeof(fabric));
    return Ok();
  });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    RW_TRY_SET(Context * context, CurrentContext());
    return Import(ipc::KeyOfNumber(shareableHandle), ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, device, *context, handle);
  });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"shareableHandle", shareableHandle}, {"handle", handle}}));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireShareType(shareType));
    RW_TRY_SET(ipc::Key key, KeyOf(shareableHandle, shareType));
    return Import(key, shareType, context->device(), *context, handle);
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pid", pid));
    RW_TRY(RequireSome(Layer::kOuter, "pidNum", pidNum));
    RW_TRY(TheVirtualMemory().status());
    return AdmitToPhysical(ipc::KeyOfNumber(shareableHandle), pid, pidNum);
  });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, int32_t* pid, size_t pidNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"shareableHandle", shareableHandle}, {"pid", pid}}));
    RW_TRY(RequireSome(Layer::kOuter, "pidNum", pidNum));
    RW_TRY(RequireShareType(shareType));
    RW_TRY_SET(ipc::Key key, KeyOf(shareableHandle, shareType));
    RW_TRY(TheVirtualMemory().status());
    return AdmitToPhysical(key, pid, pidNum);
  });
}
