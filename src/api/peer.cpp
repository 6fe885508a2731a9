// Peer access between devices (rules/devices.md 5). It belongs to the device and has one
// direction.
#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// What enabling and disabling have in common: the current device and its peer, by physical ids.
Status FindPeer(int32_t peerDeviceId, Device** device, int* peer) {
  RW_TRY_SET(Context * context, CurrentContext());
  const int current = context->device();
  if (Runtime::UserIdOf(current) == peerDeviceId)
    return Reject(ACL_ERROR_INVALID_PARAM, "peerDeviceId %d is the current device itself", peerDeviceId);
  RW_TRY_SET(*peer, FindDevice("peerDeviceId", peerDeviceId));
  *device = &Runtime::Get().device(current);
  return Ok();
}

Status RequireVisible(const char* name, int32_t id) {
  if (Runtime::PhysicalId(id) >= 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %d is not one of the %d visible devices", name, id, Runtime::VisibleCount());
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return Entry(__func__, [&]() -> Status {
    if (deviceId == peerDeviceId)
      return Reject(ACL_ERROR_INVALID_PARAM, "deviceId and peerDeviceId are both %d; two devices are wanted", deviceId);
    RW_TRY(FindDevice("peerDeviceId", peerDeviceId).status());
    RW_TRY(FindDevice("deviceId", deviceId).status());
    if (canAccessPeer == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "canAccessPeer is NULL");
    *canAccessPeer = 1;
    return Ok();
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return Entry(__func__, [&]() -> Status {
    if (flags != 0) return Reject(ACL_ERROR_FEATURE_UNSUPPORTED, "flags %u is reserved and must be 0", flags);
    Device* device = nullptr;
    int peer = 0;
    RW_TRY(FindPeer(peerDeviceId, &device, &peer));
    device->SetPeer(peer, true);
    return Ok();
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return Entry(__func__, [&]() -> Status {
    Device* device = nullptr;
    int peer = 0;
    RW_TRY(FindPeer(peerDeviceId, &device, &peer));
    device->SetPeer(peer, false);
    return Ok();
  });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("status", status));
    RW_TRY(RequireVisible("deviceId", deviceId));
    RW_TRY(RequireVisible("peerDeviceId", peerDeviceId));
    Runtime* runtime = Runtime::GetIfStarted();  // before the first device is set nothing is enabled
    const bool on = runtime != nullptr && deviceId != peerDeviceId &&
                    runtime->device(Runtime::PhysicalId(deviceId)).CanReach(Runtime::PhysicalId(peerDeviceId));
    *status = on ? 1 : 0;
    return Ok();
  });
}

aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    if (size == 0) return Reject(ACL_ERROR_INVALID_PARAM, "size is 0");
    if (flags != 0) return Reject(ACL_ERROR_INVALID_PARAM, "flags %llu is reserved and must be 0", static_cast<unsigned long long>(flags));
    RW_TRY(FindDevice("dstDevId", dstDevId).status());
    return CurrentContext().status();  // a hint: all devices are mapped here anyway
  });
}
