#include "api/entry.h"

#include <utility>

#include "base/error_log.h"

namespace ropeway::api {

aclError FileFailure(const char* call, const Status& status, const void* caller) {
  LogFailure(call, status, caller);
  return status.code();
}

aclError FileHotFailure(const char* call, const Status& status, const void* caller) {
  if (!std::exchange(t_failure_told, false)) WatchedCall(call).Failed(status.code());
  return InForkedChild() ? FileFailure(call, RefuseForkedChild(), caller) : FileFailure(call, status, caller);
}

bool MayBeDoneNow(StreamRef stream, Context& context) {
  return GetConfig().schedule == ScheduleKind::kFast && stream.stream->Idle(stream.generation, &context.scope());
}

Result<StreamHold> HoldStream(aclrtStream handle, Context* context) {
  const StreamRef standard = context != nullptr ? context->default_stream() : StreamRef();
  Stream* stream = handle != nullptr ? Streams().Acquire(handle) : Streams().Acquire(standard.stream, standard.generation);
  if (stream == nullptr)
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "stream %p is not a live stream (destroyed, or not a stream at all)", handle);
  return StreamHold(Streams(), stream);
}

Result<int> FindDevice(const char* name, int64_t user_id) {
  const int visible = Runtime::VisibleCount();
  if (user_id < 0 || user_id >= visible)
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s %lld is not one of the %d visible devices", name, static_cast<long long>(user_id),
                visible);
  return Runtime::PhysicalId(static_cast<int>(user_id));
}

Status RunPart(const Task& task) {
  TaskFailure failure;
  const int code = TheEngine().RunNow(task, &failure);
  return code == 0 ? Ok() : Fail(code, "%s", failure.text);
}

}  // namespace ropeway::api
