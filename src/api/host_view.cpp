// Views of device memory for host code.
#include "api/host_view.h"

#include "api/copied_views.h"
#include "api/entry.h"
#include "ropeway/ropeway.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status ViewAlias(const void* alias, size_t size, const Registration& registration, void** view) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(alias) - registration.alias;
  if (size > registration.size - offset)
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                "devPtr %p + %zu bytes leaves its registration: only %zu bytes of it are left behind the address", alias, size,
                registration.size - offset);
  *view = reinterpret_cast<void*>(registration.base + offset);
  return Ok();
}

bool MayReach(int device, int owner) { return !ThisProduct().peers_need_enabling || Runtime::Get().device(device).CanReach(owner); }

}  // namespace

Status ViewForDevice(const void* address, size_t size, int device, uint64_t as_of, void** view) {
  *view = nullptr;
  Memory& memory = TheMemory();
  if (const Registration registration = memory.FindAlias(address); registration.found())
    return ViewAlias(address, size, registration, view);
  if (memory.Find(address, size).place == Place::kManaged) {
    *view = const_cast<void*>(address);
    return Ok();
  }
  const auto verdict = memory.Judge(address, size, as_of);
  if (!verdict.usable)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes at %p are not inside one live block that device %d reaches", size, address, device);
  if (verdict.device < 0) {
    *view = const_cast<void*>(address);
    return Ok();
  }
  if (!MayReach(device, verdict.device))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%p is memory of device %d, to which device %d has no access (aclrtDeviceEnablePeerAccess)",
                address, verdict.device, device);
  *view = TheEngine().memory().HostView(address, size);
  return Ok();
}

}  // namespace ropeway::api

aclError ropewayHostView(void* devPtr, size_t size, void** hostPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    RW_TRY(RequirePointer("hostPtr", hostPtr));
    Runtime* runtime = Runtime::GetIfStarted();
    if (const Registration registration = runtime != nullptr ? runtime->memory().FindAlias(devPtr) : Registration(); registration.found())
      return ViewAlias(devPtr, size, registration, hostPtr);
    Location location;
    RW_TRY(LocateAnytime("devPtr", devPtr, size, &location));
    if (location.place != Place::kDevice)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "devPtr %p is host memory already; only device memory has a view", devPtr);
    RW_TRY(TheMemory().RequireRoom("devPtr", devPtr, size, location));
    void* view = TheEngine().memory().HostView(devPtr, size);
    // No failure of the program's when a library on top of the runtime wants to know.
    if (view == nullptr && !CanCopyViews())
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "host code cannot reach the %s engine's memory, of which there are views in functions that a stream waits for only "
                     "(aclrtLaunchHostFunc, kernels by stand-in); copy it, or use ROPEWAY_ENGINE=cpu",
                     TheEngine().traits().name);
    if (view == nullptr) {
      RW_TRY_SET(view, CopyView(devPtr, size, "ropewayHostView"));
    }
    *hostPtr = view;
    return Ok();
  });
}
