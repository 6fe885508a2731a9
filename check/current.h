// What the calling thread works with, as its AscendCL says. A thread that has nothing is left with a text for aclGetRecentErrMsg: ask where
// a call has succeeded, or is about to fail for the same reason.
#pragma once

#include "acl/acl.h"

namespace ropeway::check {

// The handle of the default stream stands for the null that programs pass.
aclrtStream Named(aclrtStream stream);
int32_t CurrentDevice();
aclrtContext CurrentContext();
// Whether somebody has set the device and not reset it. An AscendCL that cannot tell counts nobody.
bool InUse(int32_t device);

}  // namespace ropeway::check
