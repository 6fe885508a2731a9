// Setting and resetting devices (rules/devices.md 1).
#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status ResetDevice(int32_t deviceId, bool force) {
  RW_TRY(Runtime::RequireUsable());
  RW_TRY_SET(int physical_id, FindDevice("deviceId", deviceId));
  Runtime* runtime = Runtime::GetIfStarted();
  if (runtime == nullptr) return Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "deviceId %d is not set in this process", deviceId);
  return runtime->device(physical_id).Reset(force);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtSetDevice(int32_t deviceId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Device * device, Runtime::BringUp(deviceId));
    return device->Set();
  });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return Entry(__func__, [&] { return ResetDevice(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return Entry(__func__, [&] {
    return ResetDevice(deviceId, true).Quiet();  // its errors do not reach the last error
  });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("deviceId", deviceId));
    if (Context* context = CurrentContextOrNull()) {
      *deviceId = Runtime::UserIdOf(context->device());
      return Ok();
    }
    RW_TRY(Runtime::RequireUsable());
    if (Runtime::default_device() < 0)
      return Decline(ACL_ERROR_RT_CONTEXT_NULL, "the calling thread has no device; call aclrtSetDevice on this thread first");
    *deviceId = Runtime::default_device();
    return Ok();
  });
}
