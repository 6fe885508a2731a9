// What exceptions of kernels and faults of hardware would bring (runtime.md 9.4, 2.10).
#include "api/refused/refuse.h"
#include "api/uce_array.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoKernelRuns = "kernels do not run here, so no exception comes from one";
constexpr const char* kNoRepair = "devices made of software have no hardware faults, so there is nothing to repair";

}  // namespace
}  // namespace ropeway::api

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info, void** devArgsPtr, uint32_t* devArgsLen) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequirePointer("devArgsPtr", devArgsPtr));
    RW_TRY(RequirePointer("devArgsLen", devArgsLen));
    return NotSupportedQuietly(kNoKernelRuns);
  });
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info, aclrtFuncHandle* func) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequirePointer("func", func));
    return NotSupportedQuietly(kNoKernelRuns);
  });
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback,
                                         void* /*userData*/) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("binHandle", binHandle));
    RW_TRY(RequirePointer("callback", reinterpret_cast<const void*>(callback)));
    return NotSupportedQuietly(kNoKernelRuns);
  });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireUceArray(memUceInfoArray, arraySize));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    return NotSupportedQuietly(kNoRepair);
  });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("errorInfo", errorInfo));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    return NotSupportedQuietly(kNoRepair);
  });
}
