// Overflow flags that kernels would leave behind (rules/streams.md 8): there are none, and a stream says so in its order.
#include "api/checks.h"
#include "copy/plan.h"
#include "runtime/capture_mode.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint64_t kStatusBytes = 64;

Result<StreamRef> FindUncaptured(aclrtStream stream) {
  RW_TRY_SET(StreamRef found, FindStream(stream));
  if (found.stream != nullptr) RW_TRY(RequireNotCapturing(*found.stream));
  return found;
}

Status GetStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream, const char* call) {
  RW_TRY(RequirePointer("outputAddr", outputAddr));
  RW_TRY_SET(StreamRef found, FindUncaptured(stream));
  if (outputSize < kStatusBytes)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "outputSize %llu is less than the %llu bytes of a status",
                static_cast<unsigned long long>(outputSize), static_cast<unsigned long long>(kStatusBytes));
  RW_TRY_SET(Context * context, CurrentContext());
  Location location;
  RW_TRY(TheMemory().Locate("outputAddr", outputAddr, kStatusBytes, &location));
  if (location.place != Place::kDevice)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "outputAddr %p is not device memory; allocate it with aclrtMalloc", outputAddr);
  RW_TRY(TheMemory().RequireRoom("outputAddr", outputAddr, kStatusBytes, location));
  Task task{};
  task.kind = TaskKind::kSet;
  task.method = PlanSet(kStatusBytes, TheEngine().traits()).method;
  task.call = call;
  task.set = {outputAddr, kStatusBytes, 0};
  return Submit(found, *context, task);
}

Status ResetStatus(aclrtStream stream, const char* call) {
  RW_TRY_SET(StreamRef found, FindUncaptured(stream));
  RW_TRY_SET(Context * context, CurrentContext());
  Task task{};
  task.kind = TaskKind::kNothing;
  task.call = call;
  return Submit(found, *context, task);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return Entry(__func__, [&] { return GetStatus(outputAddr, outputSize, stream, "aclrtGetOverflowStatus"); });
}

aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream) {
  return Entry(__func__, [&] { return GetStatus(outputAddr, outputSize, stream, "aclrtGetFloatOverflowStatus"); });
}

aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t, aclrtStream stream) {
  return Entry(__func__, [&] { return GetStatus(outputAddr, outputSize, stream, "aclrtNpuGetFloatOverFlowStatus"); });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return Entry(__func__, [&] { return ResetStatus(stream, "aclrtResetOverflowStatus"); });
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
  return Entry(__func__, [&] { return ResetStatus(stream, "aclrtResetFloatOverflowStatus"); });
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t, aclrtStream stream) {
  return Entry(__func__, [&] { return ResetStatus(stream, "aclrtNpuClearFloatOverFlowStatus"); });
}
