// Copies whose addresses lie in device memory and are read when they run: by descriptor and by two-level pointers. What is found there
// is judged before a byte moves, because it may be anything.
#pragma once

#include <functional>

#include "engine/backend.h"
#include "engine/copy_descriptor.h"

namespace ropeway {

// Reads bytes of device memory that is known to be there.
using ReadDeviceBytes = std::function<void(void* out, const void* address, size_t size)>;

// What a task of kind kCopyByDesc or kCopyByCells says now; both ranges lie in blocks of one device. 0, or the code of the failure.
int ResolveLateCopy(const Task& task, const AddressJudge& judge, const ReadDeviceBytes& read, CopyDescriptor* copy, TaskFailure* failure);

}  // namespace ropeway
