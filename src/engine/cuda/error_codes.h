// What the driver's errors are called in AscendCL (rules/errors.md 2, 3).
#pragma once

#include <cuda.h>

namespace ropeway::cuda {

// When a call is refused, and when a task fails while it runs.
int CodeOfCall(CUresult result);
int CodeOfTask(CUresult result);
// Whether the driver has given the process's context up with it: every call from then on answers the same, and no call of the driver's
// brings the context back.
bool LosesContext(CUresult result);

}  // namespace ropeway::cuda
