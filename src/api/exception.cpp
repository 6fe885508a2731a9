// Errors as a program sees them: last code, texts, exception callbacks, faults of devices (rules/errors.md 4
// to 6, rules/devices.md 10).
#include "api/checks.h"
#include "base/error_log.h"
#include "stream/exception_report.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint32_t kNoInfo = 0xFFFFFFFF;

const ExceptionInfo* Inside(const aclrtExceptionInfo* info) { return reinterpret_cast<const ExceptionInfo*>(info); }

// These two calls return the code that they are asked for, so a bad level has to be told apart from it.
aclError BadLevel(const char* call, aclrtLastErrLevel level) {
  return PlainEntry(call, [&]() -> Status {
    return Reject(ACL_ERROR_INVALID_PARAM, "level %d is not ACL_RT_THREAD_LEVEL (0)", static_cast<int>(level));
  });
}

Status RequireCallback(aclrtExceptionInfoCallback callback) {
  if (callback != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "callback is NULL");
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? PeekLastError() : BadLevel(__func__, level);
}

aclError aclrtGetLastError(aclrtLastErrLevel level) { return level == ACL_RT_THREAD_LEVEL ? TakeLastError() : BadLevel(__func__, level); }

const char* aclGetRecentErrMsg() { return TakeRecentTexts(); }

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return Entry(__func__, [&]() -> Status {
    SetExceptionCallback(callback);
    return Ok();
  });
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireCallback(callback));
    AddExceptionCallback(callback);
    return Ok();
  });
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireCallback(callback));
    RemoveExceptionCallback(callback);
    return Ok();
  });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info == nullptr ? kNoInfo : Inside(info)->task_id; }

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info == nullptr ? kNoInfo : Inside(info)->stream_id; }

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info == nullptr ? kNoInfo : Inside(info)->thread_id; }

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  if (info == nullptr) return kNoInfo;
  return static_cast<uint32_t>(Runtime::UserIdOf(static_cast<int>(Inside(info)->device_id)));  // streams know physical ids
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) { return info == nullptr ? kNoInfo : Inside(info)->error_code; }

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize, size_t* retSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("memUceInfoArray", memUceInfoArray));
    RW_TRY(RequireRange(Layer::kOuter, "arraySize", static_cast<int64_t>(arraySize), 1, MAX_MEM_UCE_INFO_ARRAY_SIZE));
    RW_TRY(RequirePointer("retSize", retSize));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    *retSize = 0;  // memory here has no uncorrectable errors to tell of
    return Ok();
  });
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("errorInfo", errorInfo));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    *errorInfo = aclrtErrorInfo{};
    errorInfo->errorType = ACL_RT_NO_ERROR;
    return Ok();
  });
}

// Nothing is repaired at once; what would be broken is not here.
aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("memUceInfoArray", memUceInfoArray));
    RW_TRY(RequireRange(Layer::kOuter, "arraySize", static_cast<int64_t>(arraySize), 0, MAX_MEM_UCE_INFO_ARRAY_SIZE));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    for (size_t i = 0; i < arraySize; ++i) {
      if (memUceInfoArray[i].len != 0)
        return Decline(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "memUceInfoArray[%zu] has %zu bytes at %p, but aclrtGetMemUceInfo told of none: memory of software has no such errors", i,
            memUceInfoArray[i].len, memUceInfoArray[i].addr);
    }
    return Ok();
  });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("errorInfo", errorInfo));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    if (errorInfo->errorType == ACL_RT_NO_ERROR) return Ok();
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "errorInfo->errorType %d is none that aclrtGetErrorVerbose told of: devices made of software have no hardware faults",
                   static_cast<int>(errorInfo->errorType));
  });
}
