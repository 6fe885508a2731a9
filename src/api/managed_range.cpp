#include "api/managed_range.h"

#include <sched.h>

#include "api/checks.h"

namespace ropeway::api {
namespace {

int32_t CurrentNumaNode() {
  unsigned node = 0;
  return getcpu(nullptr, &node) == 0 ? static_cast<int32_t>(node) : 0;
}

}  // namespace

Status RequireDeviceOf(const char* name, const aclrtMemManagedLocation& location) {
  if (location.type != ACL_MEM_LOCATIONTYPE_DEVICE) return Ok();
  return RequireRange(Layer::kRuntime, name, location.id, 0, Runtime::VisibleCount() - 1);
}

Result<ManagedPlace> PlaceOf(const char* name, const aclrtMemManagedLocation& location) {
  RW_TRY(RequireDeviceOf(name, location));
  switch (location.type) {
    case ACL_MEM_LOCATIONTYPE_DEVICE: return ManagedPlace{ACL_MEM_LOCATIONTYPE_DEVICE, location.id};
    case ACL_MEM_LOCATIONTYPE_HOST: return ManagedPlace{ACL_MEM_LOCATIONTYPE_HOST, ManagedPlace::kHostId};
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
      if (location.id >= 0) return ManagedPlace{ACL_MEM_LOCATIONTYPE_HOST_NUMA, location.id};
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NUMA node %d, but nodes count from 0", name, location.id);
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT: return ManagedPlace{ACL_MEM_LOCATIONTYPE_HOST_NUMA, CurrentNumaNode()};
    default:
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s has type %d, which is no place; use 1 (device) to 4 (current NUMA node)", name,
                  static_cast<int>(location.type));
  }
}

Status RequireManaged(const char* name, const ManagedRange& range) {
  Location location;
  RW_TRY(TheMemory().Locate(name, range.ptr, range.size, &location));
  if (location.place != Place::kManaged)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is %s; this call is for memory of aclrtMemAllocManaged", name, range.ptr,
                PlaceName(location.place));
  return TheMemory().RequireRoom(name, range.ptr, range.size, location);
}

}  // namespace ropeway::api
