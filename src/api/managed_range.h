// Places and ranges of managed memory as its calls are given them.
#pragma once

#include "api/entry.h"
#include "memory/managed_advice.h"

namespace ropeway::api {

struct ManagedRange {
  const void* ptr;
  size_t size;
  uintptr_t base() const { return reinterpret_cast<uintptr_t>(ptr); }
};

// 107000 when a location is a device that is not there.
Status RequireDeviceOf(const char* name, const aclrtMemManagedLocation& location);
// The place that a location means; 107000 when it is none. `name` is that of the location, for the message.
Result<ManagedPlace> PlaceOf(const char* name, const aclrtMemManagedLocation& location);
// The last check of a call: 107000 when the range does not lie in one managed block.
Status RequireManaged(const char* name, const ManagedRange& range);

}  // namespace ropeway::api
