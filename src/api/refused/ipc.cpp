// Events and notifies of other processes (runtime.md 5.8 and 6.1): not there yet; and the link of imported memory, which other
// products have.
#include "api/refused/refuse.h"
#include "stream/event.h"
#include "stream/notify.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoLinks = "this product has one link between devices, so there is none to choose";
constexpr const char* kNoIpcEvents =
    "events of other processes are not there yet; synchronise, then tell the other process";
constexpr const char* kNoIpcNotifies =
    "notifies of other processes are not there yet; synchronise, then tell the other process";
constexpr size_t kKeyLength = 65;  // 64 characters and the end

Status RequireServerPids(const aclrtServerPid* serverPids, size_t num) {
  for (size_t i = 0; i < num; ++i) {
    if (serverPids[i].pid == nullptr || serverPids[i].num == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "serverPids[%zu] names no process (pid %p, num %zu)", i,
                  static_cast<const void*>(serverPids[i].pid), serverPids[i].num);
  }
  return Ok();
}

Status RequireLiveNotify(aclrtNotify notify) {
  if (Notifies().Find(notify) != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "notify %p is not a live notify (destroyed, or not a notify at all)",
              notify);
}

Status RequireKeyRoom(size_t len) {
  if (len >= kKeyLength) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "len %zu is too short for a key, which takes %zu bytes", len, kKeyLength);
}

}  // namespace
}  // namespace ropeway::api

// --- Memory
// -------------------------------------------------------------------------------------------------------------

aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("key", key));
    RW_TRY(
        RequireRange(Layer::kRuntime, "type", type, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK));
    RW_TRY(RequireRange(Layer::kRuntime, "attr", static_cast<int64_t>(attr), ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO,
                        ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH));
    return NotSupported(kNoLinks);
  });
}

// --- Events
// -------------------------------------------------------------------------------------------------------------

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"event", event}, {"handle", handle}}));
    const Event* found = Events().Find(event);
    if (found == nullptr)
      return Fail(ACL_ERROR_RT_INVALID_HANDLE, "event %p is not a live event (destroyed, or not an event at all)",
                  event);
    if (found->flags() != ACL_EVENT_IPC)
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "event %p has flags 0x%x; only one made with ACL_EVENT_IPC alone has a handle", event,
                  found->flags());
    return NotSupportedQuietly(kNoIpcEvents);
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle, aclrtEvent* event) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    return NotSupportedQuietly(kNoIpcEvents);
  });
}

// --- Notifies
// -----------------------------------------------------------------------------------------------------------

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"notify", notify}, {"key", key}}));
    RW_TRY(RequireLiveNotify(notify));
    RW_TRY(RequireKeyRoom(len));
    if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx is neither 0 nor 2",
                  static_cast<unsigned long long>(flags));
    return NotSupported(kNoIpcNotifies);
  });
}

// The upper half of flags is not looked at.
aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"notify", notify}, {"key", key}}));
    RW_TRY(RequireRange(Layer::kRuntime, "flags", static_cast<uint32_t>(flags), 0, 3));
    return NotSupported(kNoIpcNotifies);
  });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"notify", notify}, {"pid", pid}}));
    RW_TRY(RequireLiveNotify(notify));
    RW_TRY(RequireSome(Layer::kRuntime, "num", num));
    return NotSupported(kNoIpcNotifies);
  });
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"notify", notify}, {"serverPids", serverPids}}));
    RW_TRY(RequireLiveNotify(notify));
    RW_TRY(RequireSome(Layer::kRuntime, "num", num));
    RW_TRY(RequireServerPids(serverPids, num));
    return NotSupported(kNoIpcNotifies);
  });
}
