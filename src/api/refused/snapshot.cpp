// Snapshots of a process with its device state: not there.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoSnapshots =
    "process snapshots are not there; copy what must survive to host memory and save it yourself";

Status RefuseProcess(void* reserve) {
  RW_TRY(RequireNull("reserve", reserve));
  return NotSupported(kNoSnapshots);
}

Status RefuseCallback(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback) {
  RW_TRY(RequirePointer("callback", AddressOf(callback)));
  RW_TRY(RequireRange(Layer::kOuter, "stage", stage, ACL_RT_SNAPSHOT_LOCK_PRE, ACL_RT_SNAPSHOT_UNLOCK_POST));
  return NotSupported(kNoSnapshots);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtSnapShotProcessLock(int, void* reserve) {
  return Entry(__func__, [&] { return RefuseProcess(reserve); });
}

aclError aclrtSnapShotProcessUnlock(int, void* reserve) {
  return Entry(__func__, [&] { return RefuseProcess(reserve); });
}

// args is all reserve and may be null.
aclError aclrtSnapShotProcessBackup(int, aclrtSnapShotBackupArgs*) { return Refuse(__func__, kNoSnapshots); }

aclError aclrtSnapShotProcessRestore(int, aclrtSnapShotRestoreArgs*) { return Refuse(__func__, kNoSnapshots); }

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void*) {
  return Entry(__func__, [&] { return RefuseCallback(stage, callback); });
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback) {
  return Entry(__func__, [&] { return RefuseCallback(stage, callback); });
}
