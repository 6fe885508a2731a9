// Device memory shared between processes by key (rules/ipc.md 1), and the older rt names for the same.
#include "runtime/ipc_memory.h"

#include "api/checks.h"
#include "api/ipc_common.h"
#include "api/legacy.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// Exporter: any process may import. Importer: peer access is enabled on the way.
constexpr uint64_t kNoList = 1;
constexpr uint64_t kEnablePeerAccess = 1;

Status ExportKey(const void* address, size_t size, char* key, size_t len, bool everybody) {
  RW_TRY(CurrentContext().status());
  RW_TRY(RequireKeyRoom(len));
  RW_TRY_SET(std::string text, IpcMemory::Get().Export(TheMemory(), address, size, everybody));
  key[text.copy(key, ipc::Key::kLength)] = 0;
  return Ok();
}

Status ImportKey(void** address, const char* key, uint64_t flags, const char* call, const void* caller) {
  RW_TRY_SET(Context * context, CurrentContext());
  const int device = context->device();
  RW_TRY_SET(IpcMemory::Imported imported, IpcMemory::Get().Import(TheMemory(), key, device, call, ProgramCaller(caller)));
  if (flags == kEnablePeerAccess) EnablePeers(device, imported.exporter_device);
  *address = imported.address;
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"devPtr", devPtr}, {"key", key}}));
    RW_TRY(RequireSome(Layer::kRuntime, "size", size));
    RW_TRY(RequireSome(Layer::kRuntime, "len", len));
    RW_TRY(RequireRange(Layer::kRuntime, "flags", static_cast<int64_t>(flags), 0, 1));
    return ExportKey(devPtr, size, key, len, flags == kNoList);
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"key", key}, {"pid", pid}}));
    RW_TRY(RequireSome(Layer::kRuntime, "num", num));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().Admit(key, pid, num);
  });
}

// Other servers cannot be reached; their processes' numbers count on this one.
aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("key", key));
    RW_TRY(RequireRuntimePointer("serverPids", serverPids));
    RW_TRY(RequireSome(Layer::kRuntime, "num", num));
    RW_TRY(RequireServerPids(serverPids, num));
    for (size_t i = 0; i < num; ++i) RW_TRY(IpcMemory::Get().Admit(key, serverPids[i].pid, serverPids[i].num));
    return Ok();
  });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"devPtr", devPtr}, {"key", key}}));
    RW_TRY(RequireRange(Layer::kRuntime, "flags", static_cast<int64_t>(flags), 0, 1));
    return ImportKey(devPtr, key, flags, "aclrtIpcMemImportByKey", caller);
  });
}

aclError aclrtIpcMemClose(const char* key) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("key", key));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().Close(TheMemory(), key);
  });
}

// --- Older names: the runtime layer sees their nulls -----------------------------------------------------------------------

int32_t rtIpcSetMemoryName(const void* ptr, uint64_t byteCount, char* name, uint32_t len) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("ptr", ptr));
    RW_TRY(RequireRuntimePointer("name", name));
    RW_TRY(RequireSome(Layer::kRuntime, "byteCount", byteCount));
    RW_TRY(RequireSome(Layer::kRuntime, "len", len));
    return ExportKey(ptr, byteCount, name, len, false);
  });
}

int32_t rtIpcDestroyMemoryName(const char* name) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("name", name));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().Close(TheMemory(), name);
  });
}

int32_t rtIpcOpenMemory(void** ptr, const char* name) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("ptr", ptr));
    RW_TRY(RequireRuntimePointer("name", name));
    return ImportKey(ptr, name, kEnablePeerAccess, "rtIpcOpenMemory", caller);
  });
}

int32_t rtIpcCloseMemory(const void* ptr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("ptr", ptr));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().CloseAt(TheMemory(), ptr);
  });
}

int32_t rtSetIpcMemorySuperPodPid(const char* name, uint32_t, int32_t pid[], int32_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("name", name));
    RW_TRY(RequireRuntimePointer("pid", pid));
    if (num < 1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num %d is less than 1", num);
    return IpcMemory::Get().Admit(name, pid, static_cast<size_t>(num));
  });
}
