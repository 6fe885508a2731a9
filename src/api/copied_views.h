// Views of device memory that host code cannot reach (a GPU's): copies that last as long as a function of a stream runs, and are written
// back behind it, before the stream goes on. The one mechanism for stand-ins of kernels and for host functions.
#pragma once

#include <cstddef>

#include "base/status.h"

namespace ropeway::api {

// Whether the calling thread runs a function that a stream waits for.
bool CanCopyViews();

// The copy's address; the memory has been checked. `call` is who asks. 107000 for a range that overlaps an earlier one without lying in it,
// 207001 without memory.
Result<void*> CopyView(void* address, size_t size, const char* call);

}  // namespace ropeway::api
