// What the calls that export and import have in common.
#pragma once

#include "api/entry.h"
#include "ipc/key.h"

namespace ropeway::api {

inline Status RequireKeyRoom(size_t len) {
  if (len >= ipc::Key::kRoom) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "len %zu is too short for a key, which takes %zu bytes", len, ipc::Key::kRoom);
}

inline Status RequireServerPids(const aclrtServerPid* serverPids, size_t num) {
  for (size_t i = 0; i < num; ++i) {
    if (serverPids[i].pid == nullptr || serverPids[i].num == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "serverPids[%zu] names no process (pid %p, num %zu)", i,
                  static_cast<const void*>(serverPids[i].pid), serverPids[i].num);
  }
  return Ok();
}

// The two devices reach each other from now on. A device that this process does not have needs no way to it.
inline void EnablePeers(int one, int other) {
  if (one == other || other < 0 || other >= ThisMachine().devices) return;
  Runtime::Get().device(one).SetPeer(other, true);
  Runtime::Get().device(other).SetPeer(one, true);
}

}  // namespace ropeway::api
