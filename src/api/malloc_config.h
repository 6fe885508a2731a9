// The configuration of aclrtMallocWithCfg and aclrtMallocHostWithCfg: device and host memory accept disjoint sets of
// attributes, apart from the module id.
#pragma once

#include "api/entry.h"

namespace ropeway::api {

// 107000 for attribute types other than RSV, MODULE_ID and DEVICE_ID, and for another device than the current one.
Status RequireDeviceAttributes(const aclrtMallocConfig* cfg, int current_user_id);
// 107000 for attribute types other than MODULE_ID and VA_FLAG.
Status RequireHostAttributes(const aclrtMallocConfig* cfg);
// Whether the last VA_FLAG asks that the address equals the device alias of a later registration.
bool WantsEqualAddresses(const aclrtMallocConfig* cfg);

}  // namespace ropeway::api
