// Callbacks that programs register by name to hear of devices and streams coming and going (rules/devices.md 7, 10).
#pragma once

#include "acl/acl_rt.h"
#include "base/status.h"

namespace ropeway {

// A null callback removes the name; a name in use is 107000. `name` is not null.
Status RegisterStreamState(const char* name, aclrtStreamStateCallback callback, void* args);
Status RegisterDeviceState(const char* name, aclrtDeviceStateCallback callback, void* args);
Status RegisterTaskAbort(const char* name, aclrtDeviceTaskAbortCallback callback, void* args);

// Called without any lock held.
void NotifyStreamState(aclrtStream stream, aclrtStreamState state);
void NotifyDeviceState(int device, aclrtDeviceState state);
void NotifyTaskAbort(int device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms);

}  // namespace ropeway
