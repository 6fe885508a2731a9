// Addresses through which host code reaches what a device would.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace ropeway::api {

// Where host code reaches what work of `device` may touch, as it was when the free clock showed `as_of`: device memory, registered and
// pinned host memory, managed memory. A null view and no failure: device memory that the host cannot reach. 107000 for everything else.
Status ViewForDevice(const void* address, size_t size, int device, uint64_t as_of, void** view);

}  // namespace ropeway::api
