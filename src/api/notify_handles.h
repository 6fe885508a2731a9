// Finding a notify by its handle, for the calls that take one.
#pragma once

#include "api/entry.h"
#include "stream/notify.h"

namespace ropeway::api {

// 107017 for anything that is not a live notify.
inline Result<NotifyHold> HoldNotify(const char* name, aclrtNotify notify) {
  NotifyHold hold(Notifies(), Notifies().Acquire(notify));
  if (hold) return hold;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "%s %p is not a live notify (destroyed, or not a notify at all)", name, notify);
}

}  // namespace ropeway::api
