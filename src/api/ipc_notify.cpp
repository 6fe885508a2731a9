// Notifies shared with other processes (rules/signals.md 1).
#include <cstring>

#include "api/ipc_common.h"
#include "api/notify_handles.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint32_t kMostImportFlags = 3;  // device-only and peer access

}  // namespace
}  // namespace ropeway::api

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY(RequirePointer("key", key));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    RW_TRY(RequireKeyRoom(len));
    if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx is neither 0 nor 2", static_cast<unsigned long long>(flags));
    RW_TRY(CurrentContext().status());
    RW_TRY_SET(ipc::Key made, hold->Export(flags == ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    made.Write(key);
    return Ok();
  });
}

// The upper half of flags is not looked at.
aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY(RequirePointer("key", key));
    const auto low = static_cast<uint32_t>(flags);
    if (low > kMostImportFlags) return Fail(ACL_ERROR_RT_PARAM_INVALID, "flags %u is not in 0..%u", low, kMostImportFlags);
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(ipc::Key parsed, ipc::Key::ParseString(key));
    RW_TRY_SET(Notify * made, Notify::Import(parsed));
    if ((low & ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0) EnablePeers(context->device(), made->device());
    *notify = Notifies().HandleOf(made);
    return Ok();
  });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY(RequirePointer("pid", pid));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    if (num == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num is 0, so no process is named");
    RW_TRY(CurrentContext().status());
    return hold->AdmitToo(pid, num);
  });
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids, size_t num) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY(RequirePointer("serverPids", serverPids));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    if (num == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num is 0, so no process is named");
    RW_TRY(RequireServerPids(serverPids, num));
    RW_TRY(CurrentContext().status());
    for (size_t i = 0; i < num; ++i) RW_TRY(hold->AdmitToo(serverPids[i].pid, serverPids[i].num));
    return Ok();
  });
}
