// What the driver's errors are called in AscendCL (rules/errors.md 2, 3).
#pragma once

#include <cuda.h>

namespace ropeway::cuda {

// When a call is refused, and when a task fails while it runs.
int CodeOfCall(CUresult result);
int CodeOfTask(CUresult result);
// What the user can do about it, to end a message with; empty when that is not known.
const char* NextStep(CUresult result);

}  // namespace ropeway::cuda
