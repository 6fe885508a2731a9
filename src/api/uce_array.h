// The array of memory faults that two calls take, one of which works and one of which is refused.
#pragma once

#include "api/entry.h"

namespace ropeway::api {

inline Status RequireUceArray(const aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  RW_TRY(RequirePointer("memUceInfoArray", memUceInfoArray));
  if (arraySize == 0 || arraySize > MAX_MEM_UCE_INFO_ARRAY_SIZE)
    return Reject(ACL_ERROR_INVALID_PARAM, "arraySize %zu is not in 1..%d", arraySize, MAX_MEM_UCE_INFO_ARRAY_SIZE);
  return Ok();
}

}  // namespace ropeway::api
