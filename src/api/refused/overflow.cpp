// Overflow flags that kernels leave behind: no kernel runs here, so there is no flag to read or to clear.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoFlags = "no kernel runs here that could set overflow flags; look at the results themselves";

Status NoFlags(aclrtStream stream) {
  RW_TRY(RequireLiveStream(stream));
  return NotSupportedQuietly(kNoFlags);
}

Status ReadFlags(void* outputAddr, aclrtStream stream) {
  RW_TRY(RequirePointer("outputAddr", outputAddr));
  return NoFlags(stream);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCtxGetFloatOverflowAddr(void** overflowAddr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("overflowAddr", overflowAddr));
    return NotSupported(kNoFlags);
  });
}

aclError aclrtGetOverflowStatus(void* outputAddr, size_t, aclrtStream stream) {
  return Entry(__func__, [&] { return ReadFlags(outputAddr, stream); });
}

aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t, aclrtStream stream) {
  return Entry(__func__, [&] { return ReadFlags(outputAddr, stream); });
}

aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t, uint32_t, aclrtStream stream) {
  return Entry(__func__, [&] { return ReadFlags(outputAddr, stream); });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return Entry(__func__, [&] { return NoFlags(stream); });
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
  return Entry(__func__, [&] { return NoFlags(stream); });
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t, aclrtStream stream) {
  return Entry(__func__, [&] { return NoFlags(stream); });
}
