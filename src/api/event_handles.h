// Finding an event by its handle, for the calls that take one.
#pragma once

#include "api/entry.h"
#include "stream/event.h"

namespace ropeway::api {

// 107017 for anything that is not a live event.
inline Result<EventHold> FindEvent(const char* name, aclrtEvent handle) {
  Event* event = Events().Acquire(handle);
  if (event != nullptr) [[likely]]
    return EventHold(Events(), event);
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "%s %p is not a live event (destroyed, or not an event at all)", name, handle);
}

}  // namespace ropeway::api
