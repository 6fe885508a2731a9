// What the driver's errors are called in AscendCL (copy-and-memory.md 1.1, runtime.md 9.1).
#pragma once

#include <cuda.h>

namespace ropeway::cuda {

// When a call is refused, and when a task fails while it runs.
int CodeOfCall(CUresult result);
int CodeOfTask(CUresult result);

}  // namespace ropeway::cuda
