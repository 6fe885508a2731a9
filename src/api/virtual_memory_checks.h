// What the calls of virtual memory have in common.
#pragma once

#include "api/entry.h"

namespace ropeway::api {

// The rules' keeper. None of these calls needs a context, so the first of them may be what starts the runtime. 207000 when the
// engine's memory cannot be mapped.
Result<VirtualMemory*> TheVirtualMemory();

}  // namespace ropeway::api
