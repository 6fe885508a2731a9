// Device memory shared between processes by key (copy-and-memory.md 10.3), and the older rt names for the same.
#include "api/entry.h"
#include "api/legacy.h"
#include "runtime/ipc_memory.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// Exporter: any process may import. Importer: peer access is enabled on the way.
constexpr uint64_t kNoList = 1;
constexpr uint64_t kEnablePeerAccess = 1;

Status RequireRuntimeArgument(const char* name, const void* pointer) {
  if (pointer != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL", name);
}

Status RequireNonZero(const char* name, size_t value) {
  if (value != 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is 0", name);
}

Status RequireFlag(uint64_t flags) {
  if (flags <= 1) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx is neither 0 nor 1", static_cast<unsigned long long>(flags));
}

Status RequireSharing() {
  if (TheEngine().memory().shares_memory()) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the %s engine shares no memory between processes; use ROPEWAY_ENGINE=cpu",
              TheEngine().traits().name);
}

Status ExportKey(const void* address, size_t size, char* key, size_t len, bool everybody) {
  RW_TRY(CurrentContext().status());
  RW_TRY(RequireSharing());
  if (len < ipc::Key::kRoom)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "len %zu is too short for a key, which takes %zu bytes", len, ipc::Key::kRoom);
  RW_TRY_SET(std::string text, IpcMemory::Get().Export(TheMemory(), address, size, everybody));
  key[text.copy(key, ipc::Key::kLength)] = 0;
  return Ok();
}

Status ImportKey(void** address, const char* key, uint64_t flags, const char* call, const void* caller) {
  RW_TRY_SET(Context * context, CurrentContext());
  RW_TRY(RequireSharing());
  const int device = context->device();
  RW_TRY_SET(IpcMemory::Imported imported, IpcMemory::Get().Import(TheMemory(), key, device, call, caller));
  const int peer = imported.exporter_device;
  if (flags == kEnablePeerAccess && peer != device && peer < GetConfig().devices) {
    Runtime::Get().device(device).SetPeer(peer, true);
    Runtime::Get().device(peer).SetPeer(device, true);
  }
  *address = imported.address;
  return Ok();
}

Status AdmitServerPids(const char* key, const aclrtServerPid* serverPids, size_t num) {
  for (size_t i = 0; i < num; ++i) {
    if (serverPids[i].pid == nullptr || serverPids[i].num == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "serverPids[%zu] names no process (pid %p, num %zu)", i,
                  static_cast<const void*>(serverPids[i].pid), serverPids[i].num);
  }
  for (size_t i = 0; i < num; ++i) RW_TRY(IpcMemory::Get().Admit(key, serverPids[i].pid, serverPids[i].num));
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    RW_TRY(RequirePointer("key", key));
    RW_TRY(RequireNonZero("size", size));
    RW_TRY(RequireNonZero("len", len));
    RW_TRY(RequireFlag(flags));
    return ExportKey(devPtr, size, key, len, flags == kNoList);
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("key", key));
    RW_TRY(RequirePointer("pid", pid));
    RW_TRY(RequireNonZero("num", num));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().Admit(key, pid, num);
  });
}

// Other servers cannot be reached; their processes' numbers count on this one.
aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("key", key));
    RW_TRY(RequireRuntimeArgument("serverPids", serverPids));
    RW_TRY(RequireNonZero("num", num));
    return AdmitServerPids(key, serverPids, num);
  });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    RW_TRY(RequirePointer("key", key));
    RW_TRY(RequireFlag(flags));
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
    RW_TRY(RequireRuntimeArgument("ptr", ptr));
    RW_TRY(RequireRuntimeArgument("name", name));
    RW_TRY(RequireNonZero("byteCount", byteCount));
    RW_TRY(RequireNonZero("len", len));
    return ExportKey(ptr, byteCount, name, len, false);
  });
}

int32_t rtIpcDestroyMemoryName(const char* name) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("name", name));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().Close(TheMemory(), name);
  });
}

int32_t rtIpcOpenMemory(void** ptr, const char* name) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("ptr", ptr));
    RW_TRY(RequireRuntimeArgument("name", name));
    return ImportKey(ptr, name, kEnablePeerAccess, "rtIpcOpenMemory", caller);
  });
}

int32_t rtIpcCloseMemory(const void* ptr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("ptr", ptr));
    RW_TRY(CurrentContext().status());
    return IpcMemory::Get().CloseAt(TheMemory(), ptr);
  });
}

int32_t rtSetIpcMemorySuperPodPid(const char* name, uint32_t, int32_t pid[], int32_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("name", name));
    RW_TRY(RequireRuntimeArgument("pid", pid));
    if (num < 1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num %d is less than 1", num);
    return IpcMemory::Get().Admit(name, pid, static_cast<size_t>(num));
  });
}
