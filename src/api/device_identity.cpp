// Which device is which: made-up but stable bus ids and uuids, and the conversions between user, logic and physical ids
// (rules/devices.md 4, 8). There are no containers here, so logic and physical ids are the same.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr int kBusIdLength = 12;  // "0000:01:00.0"
constexpr int kFirstBus = 1;

// The user id of a physical one; 107001 when there is no such device or it is not visible.
Status FindUserId(const char* name, int32_t physical_id, int32_t* user_id) {
  const int found = physical_id < 0 || physical_id >= ThisMachine().devices ? -1 : Runtime::UserIdOf(physical_id);
  if (found < 0)
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s %d is not a device of this machine, or not a visible one", name, physical_id);
  *user_id = found;
  return Ok();
}

[[gnu::always_inline]] inline aclError ToPhysical(const char* call, const char* name, int32_t user_id, const char* output_name,
                                                  int32_t* physical_id) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequirePointer(output_name, physical_id));
    RW_TRY_SET(*physical_id, FindDevice(name, user_id));
    return Ok();
  });
}

[[gnu::always_inline]] inline aclError ToUser(const char* call, const char* name, int32_t physical_id, const char* output_name,
                                              int32_t* user_id) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequirePointer(output_name, user_id));
    return FindUserId(name, physical_id, user_id);
  });
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("uuid", uuid));
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    // Version 8 of RFC 9562, which leaves the other bits to whoever makes it: our name and the device's number.
    aclrtUuid made{{'R', 'o', 'p', 'e', 'w', 'a', '\x80', 'y', '\x80'}};
    made.bytes[15] = static_cast<char>(device);
    *uuid = made;
    return Ok();
  });
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pciBusId", pciBusId));
    if (len <= kBusIdLength)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "len %d is less than %d, which the text and its end need", len, kBusIdLength + 1);
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    snprintf(pciBusId, kBusIdLength + 1, "0000:%02x:00.0", static_cast<unsigned>(kFirstBus + device) & 0xFF);
    return Ok();
  });
}

aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pciBusId", pciBusId));
    RW_TRY(RequirePointer("deviceId", deviceId));
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (strlen(pciBusId) != kBusIdLength || sscanf(pciBusId, "%4x:%2x:%2x.%1x", &domain, &bus, &slot, &function) != 4)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "pciBusId \"%.32s\" does not have the form 0000:01:00.0", pciBusId);
    const bool ours = domain == 0 && slot == 0 && function == 0;
    return FindUserId("pciBusId, device", ours ? static_cast<int32_t>(bus) - kFirstBus : -1, deviceId);
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pid", pid));
    *pid = getpid();
    return Ok();
  });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return ToPhysical(__func__, "userDevid", userDevid, "logicDevId", logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
  return ToUser(__func__, "logicDevId", logicDevId, "userDevid", userDevid);
}

// The names of the next two say logic id; what they take and give are user ids.
aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
  return ToUser(__func__, "phyDevId", phyDevId, "logicDevId", logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
  return ToPhysical(__func__, "logicDevId", logicDevId, "phyDevId", phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId) {
  return ToUser(__func__, "phyDevId", phyDevId, "userDevId", userDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId) {
  return ToPhysical(__func__, "userDevId", userDevId, "phyDevId", phyDevId);
}
