// Limits of device code: stacks and print buffers (rules/devices.md 4). They belong to the process. No device code runs
// here, so a limit is a number that is kept and given back.
#pragma once

#include <cstddef>

#include "acl/acl_rt.h"

namespace ropeway {

// The kinds that need another product's SIMT units are not there.
bool DeviceLimitSupported(aclrtDeviceLimit limit);

// Only for supported kinds.
void SetDeviceLimit(aclrtDeviceLimit limit, size_t value);
size_t GetDeviceLimit(aclrtDeviceLimit limit);

}  // namespace ropeway
