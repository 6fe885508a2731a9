// Marks for the vendor's profiler, which is not here.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("userdata", userdata));
    RW_TRY(RequireRange(Layer::kRuntime, "length", length, 1, INT32_MAX));
    RW_TRY(RequireLiveStream(stream));
    return NotSupported("marks of the vendor's profiler have no reader here; ROPEWAY_TRACE writes a trace of all work");
  });
}
