// Setting memory (rules/copies.md 5, 6). Host memory is always written at once by the calling thread; device memory
// and managed memory in stream order by the asynchronous forms.
#include "api/entry.h"
#include "copy/plan.h"
#include "runtime/capture_mode.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Task SetTask(void* address, int32_t value, size_t count, const char* call) {
  Task task{};
  task.kind = TaskKind::kSet;
  task.method = PlanSet(count, TheEngine().traits()).method;
  task.call = call;
  task.set = {address, count, static_cast<uint32_t>(value & 0xFF)};
  return task;
}

Task SetWordsTask(void* address, uint32_t value, size_t words, const char* call) {
  Task task{};
  task.kind = TaskKind::kSetWords;
  task.call = call;
  task.set = {address, words, value};
  return task;
}

Status RequireMaxCount(size_t count, size_t maxCount) {
  if (count <= maxCount) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "count %zu exceeds maxCount %zu", count, maxCount);
}

Status RequireNotAborting(const Context& context) {
  if (!Runtime::Get().device(context.device()).aborting()) return Ok();
  return Fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, "the device is aborting its tasks");
}

// The outer checks of both D32 forms, and where the memory is. The product 4 * N may wrap as it does in the original; the
// range check behind it does not.
Status RequireWords(void* ptr, size_t memSize, size_t N, Location* location) {
  RW_TRY(RequirePointer("ptr", ptr));
  if (reinterpret_cast<uintptr_t>(ptr) % sizeof(uint32_t) != 0)
    return Reject(ACL_ERROR_INVALID_PARAM, "ptr %p is not aligned to 4 bytes", ptr);
  if (memSize < N * sizeof(uint32_t)) return Reject(ACL_ERROR_INVALID_PARAM, "memSize %zu is less than 4 * N with N %zu", memSize, N);
  RW_TRY(LocateAnytime("ptr", ptr, N * sizeof(uint32_t), location));
  if (location->place == Place::kPageable)
    return Reject(ACL_ERROR_INVALID_PARAM, "ptr %p is pageable host memory; allocate it with aclrtMallocHost or register it", ptr);
  if (location->place == Place::kManaged)
    return Reject(ACL_ERROR_INVALID_PARAM, "ptr %p is managed memory, which is set byte by byte only; use aclrtMemset", ptr);
  return Ok();
}

Status RequireWordRoom(void* ptr, size_t N, const Location& location) {
  const size_t bytes = N > SIZE_MAX / sizeof(uint32_t) ? SIZE_MAX : N * sizeof(uint32_t);
  return TheMemory().RequireRoom("ptr", ptr, bytes, location);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("devPtr", devPtr));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireNotAborting(*context));
    RW_TRY(RequireUnsafeAllowed(*context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT));
    RW_TRY(RequireMaxCount(count, maxCount));
    SyncOperation in_progress;
    Location location;
    RW_TRY(TheMemory().Locate("devPtr", devPtr, count, &location));
    RW_TRY(TheMemory().RequireRoom("devPtr", devPtr, count, location));
    return RunNow(SetTask(devPtr, value, count, "aclrtMemset"));
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("devPtr", devPtr));
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY(RequireMaxCount(count, maxCount));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(OrDefault(target, *context).stream->RequireContext(&context->scope()));
    SyncOperation in_progress;
    Location location;
    RW_TRY(TheMemory().Locate("devPtr", devPtr, count, &location));
    RW_TRY(TheMemory().RequireRoom("devPtr", devPtr, count, location));
    Task task = SetTask(devPtr, value, count, "aclrtMemsetAsync");
    if (location.place == Place::kDevice || location.place == Place::kManaged) return Submit(target, *context, task);
    return RunNow(task);
  });
}

aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N) {
  return Entry(__func__, [&]() -> Status {
    if (N == 0) return Ok();
    SyncOperation in_progress;
    Location location;
    RW_TRY(RequireWords(ptr, memSize, N, &location));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireNotAborting(*context));
    RW_TRY(RequireWordRoom(ptr, N, location));
    return RunNow(SetWordsTask(ptr, value, N, "aclrtMemsetD32"));
  });
}

aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (N == 0) return Ok();
    SyncOperation in_progress;
    Location location;
    RW_TRY(RequireWords(ptr, memSize, N, &location));
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY_SET(Context * context, CurrentContext());
    Task task = SetWordsTask(ptr, value, N, "aclrtMemsetD32Async");
    if (location.place == Place::kDevice) {
      RW_TRY(OrDefault(target, *context).stream->RequireContext(&context->scope()));
      RW_TRY(RequireWordRoom(ptr, N, location));
      return Submit(target, *context, task);
    }
    RW_TRY(RequireWordRoom(ptr, N, location));
    return RunNow(task);
  });
}
