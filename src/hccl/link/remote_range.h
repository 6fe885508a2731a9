// Addresses that stand for memory of another host: reserved ranges without access rights, which copies reach through a link.
#pragma once

#include <cstdint>

#include "hccl/base/result.h"

namespace ropeway::comm {

// Whether one side of a copy lies in such a range. If so the copy has been queued on `stream` (a stream of the runtime), or
// refused, and *status is the answer; the caller is done. Called after the argument checks of the copy.
bool RouteRemote(void* dst, const void* src, uint64_t count, void* stream, Status* status);

}  // namespace ropeway::comm
