// Streams (rules/streams.md).
#include <algorithm>

#include "api/entry.h"
#include "base/error_log.h"
#include "memory/pool.h"
#include "runtime/capture_mode.h"
#include "runtime/state_callbacks.h"
#include "stream/report_mailbox.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint32_t kKnownFlags = 0x3F;
constexpr int kLowestPriority = 7;

// Values above 2^31 - 1 are negative numbers to the original, and so become the highest priority.
int ClampPriority(uint32_t priority) { return std::clamp(static_cast<int32_t>(priority), 0, kLowestPriority); }

Status CreateStream(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  RW_TRY(RequirePointer("stream", stream));
  const uint32_t flags = flag & kKnownFlags;
  if ((flags & ACL_STREAM_DEVICE_USE_ONLY) != 0 && flags != ACL_STREAM_DEVICE_USE_ONLY)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x combines ACL_STREAM_DEVICE_USE_ONLY with others", flag);
  RW_TRY_SET(Context * context, CurrentContext());
  Stream* made = nullptr;
  RW_TRY(context->CreateStream(ClampPriority(priority), flags, &made));
  *stream = made->handle();
  return Ok();
}

Status DestroyStream(aclrtStream stream, bool force) {
  RW_TRY(RequirePointer("stream", stream));
  RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
  RW_TRY(RequireNotCapturing(*target));
  RW_TRY(RequireNotBound(*target));
  RW_TRY_SET(Context * context, CurrentContext());
  RW_TRY(target->RequireContext(&context->scope()));
  if (target->is_default())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream %p is the default stream of its context; it ends with the context", stream);
  if (target->queue().InsideOwnCall())
    return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "a stream cannot be destroyed from inside its own host function");
  NotifyStreamState(stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
  const int device = target->device();
  if (!target->BeginDestroy(StreamSlab::GenerationOf(stream)))
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "stream %p is being destroyed by another thread", stream);
  // On its context's list to the end, so that whoever closes the context knows of the work.
  target->FinishDestroy(force);
  context->Forget(target.get());
  ReportMailbox::Forget(*target);
  Runtime::Get().device(device).CountStream(-1);
  return Ok();
}

// For calls that accept streams of any context: by handle, or the default stream of the current context, which must exist.
Result<StreamHold> HoldForQuery(aclrtStream stream) {
  RW_TRY(FindStream(stream).status());
  RW_TRY_SET(Context * context, CurrentContext());
  return HoldStream(stream, context);
}

// Millisecond limits of the host's waits: -1 waits for ever, 0 does not mean "poll".
Status RequireTimeout(int32_t timeout) {
  if (timeout == -1 || timeout > 0) return Ok();
  return Reject(ACL_ERROR_RT_PARAM_INVALID, "timeout %d is neither -1 (for ever) nor a positive number of milliseconds", timeout);
}

// The same for calls that a capture of the stream forbids.
Result<StreamHold> HoldUncaptured(aclrtStream stream) {
  RW_TRY_SET(StreamRef found, FindStream(stream));
  if (found.stream != nullptr) RW_TRY(RequireNotCapturing(*found.stream));
  return HoldForQuery(stream);
}

Status SynchronizeStream(aclrtStream stream, Deadline deadline) {
  RW_TRY_SET(StreamHold target, HoldUncaptured(stream));
  Status status = target->Synchronize(deadline);
  Pool::AfterSynchronize();
  return status;
}

Status SetFailureMode(Stream& stream, Context& context, uint64_t mode) {
  RW_TRY(stream.RequireContext(&context.scope()));
  if ((stream.flags() & ACL_STREAM_DEVICE_USE_ONLY) != 0)
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a device-only stream has no failure mode");
  if (stream.bound())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "stream %d is bound to a model, whose executions always go on behind a failure",
                   stream.id());
  const bool stop = (mode & 1) == ACL_STOP_ON_FAILURE;
  if (stop && context.scope().failed())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the context has failed in stop mode; reset the device first");
  if (!stop && stream.stop_mode.load())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "mode %llu: stop-on-failure cannot be turned off again",
                   static_cast<unsigned long long>(mode));
  if (stop) {
    stream.stop_mode.store(true);
    context.scope().StopOnFailure();
  }
  return Ok();
}

// How many streams further on the lines of one are asked for, which lanes have written: a thousand are looked at one behind the other.
constexpr size_t kStreamsAhead = 6;

}  // namespace

Status SynchronizeCurrentDevice(Deadline deadline) {
  RW_TRY_SET(Context * context, CurrentContext());
  Status first = context->scope().Deliver();
  if (!first.ok()) return first;
  std::vector<StreamHold> streams = context->HoldStreams();
  for (const StreamHold& stream : streams) RW_TRY(RequireNotCapturing(*stream));
  for (size_t i = 0; i < streams.size(); ++i) {
    if (i + kStreamsAhead < streams.size()) streams[i + kStreamsAhead]->queue().ExpectLook();
    Status status = streams[i]->Synchronize(deadline);
    if (status.ok() || !first.ok()) continue;
    // Continue mode waits for all streams and reports the first error; stop mode and a time-out return at once.
    if (status.code() == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || context->scope().stops_on_failure()) return status;
    first = std::move(status);
  }
  Pool::AfterSynchronize();
  return first;
}

}  // namespace ropeway::api

aclError aclrtCreateStream(aclrtStream* stream) {
  return Entry(__func__, [&] { return CreateStream(stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return Entry(__func__, [&] { return CreateStream(stream, priority, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return Entry(__func__, [&] { return DestroyStream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return Entry(__func__, [&] { return DestroyStream(stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return Entry(__func__, [&] { return SynchronizeStream(stream, Deadline::Never()); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireTimeout(timeout));
    return SynchronizeStream(stream, Deadline::AfterMs(timeout));
  });
}

aclError aclrtSynchronizeDevice(void) {
  return Entry(__func__, [&] { return SynchronizeCurrentDevice(Deadline::Never()); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireTimeout(timeout));
    return SynchronizeCurrentDevice(Deadline::AfterMs(timeout));
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("status", status));
    RW_TRY_SET(StreamHold target, HoldUncaptured(stream));
    RW_TRY(target->failure_scope().Check());
    *status = target->Query() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return Ok();
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("streamId", streamId));
    if (stream == nullptr) RW_TRY(CurrentContext().status());
    RW_TRY_SET(StreamHold target, HoldStream(stream, CurrentContextOrNull()));
    *streamId = target->id();
    return Ok();
  });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("priority", priority));
    RW_TRY_SET(StreamHold target, HoldForQuery(stream));
    *priority = static_cast<uint32_t>(target->priority());
    return Ok();
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("flags", flags));
    RW_TRY_SET(StreamHold target, HoldForQuery(stream));
    *flags = target->flags();
    return Ok();
  });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("streamCount", streamCount));
    RW_TRY_SET(Context * context, CurrentContext());
    *streamCount = static_cast<uint32_t>(Device::kMaxStreams - Runtime::Get().device(context->device()).streams());
    return Ok();
  });
}

aclError aclrtGetThreadLastTaskId(uint32_t* taskId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("taskId", taskId));
    *taskId = t_last_task_id;
    return Ok();
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    return SetFailureMode(*target, *context, mode);
  });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(FindStream(stream).status());
    if (stmAttrType < ACL_STREAM_ATTR_FAILURE_MODE || stmAttrType > ACL_STREAM_ATTR_PRIORITY)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "stmAttrType %d is not one of 1 to 5", static_cast<int>(stmAttrType));
    if (stream == nullptr && stmAttrType == ACL_STREAM_ATTR_PRIORITY)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "the priority of a NULL stream cannot be set; name the stream");
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE: return SetFailureMode(*target, *context, value->failureMode);
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        RW_TRY(RequireNotCapturing(*target));
        target->overflow_switch.store(value->overflowSwitch);
        return Ok();
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        RW_TRY(RequireNotCapturing(*target));
        target->custom_tag.store(value->userCustomTag);
        return Ok();
      case ACL_STREAM_ATTR_CACHE_OP_INFO: target->cache_op_info.store(value->cacheOpInfoSwitch); return Ok();
      default: break;
    }
    if ((target->flags() & ACL_STREAM_CPU_SCHEDULE) != 0)
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a CPU_SCHEDULE stream has no priority");
    target->SetPriority(ClampPriority(value->streamPriority));
    return Ok();
  });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(FindStream(stream).status());
    if (stmAttrType < ACL_STREAM_ATTR_FAILURE_MODE || stmAttrType > ACL_STREAM_ATTR_PRIORITY)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "stmAttrType %d is not one of 1 to 5", static_cast<int>(stmAttrType));
    if (stream == nullptr && stmAttrType == ACL_STREAM_ATTR_PRIORITY)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "the priority of a NULL stream cannot be read; name the stream");
    RW_TRY_SET(StreamHold target, HoldForQuery(stream));
    aclrtStreamAttrValue answer{};
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE:
        answer.failureMode = target->stop_mode.load() ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
        break;
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: answer.overflowSwitch = target->overflow_switch.load(); break;
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG: answer.userCustomTag = target->custom_tag.load(); break;
      case ACL_STREAM_ATTR_CACHE_OP_INFO: answer.cacheOpInfoSwitch = target->cache_op_info.load(); break;
      default: answer.streamPriority = static_cast<uint32_t>(target->priority());
    }
    *value = answer;
    return Ok();
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    RW_TRY(target->RequireContext(&context->scope()));
    if (Runtime::Get().device(target->device()).aborting()) return Ok();
    return target->Abort();
  });
}

// The queue keeps its tasks and runs none; aclrtStreamAbort is the way out.
aclError aclrtStreamStop(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (stream == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL");
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    RW_TRY(target->RequireContext(&context->scope()));
    if (Runtime::Get().device(target->device()).aborting())
      return Fail(ACL_ERROR_RT_STREAM_ABORT, "the device of stream %p is aborting its tasks", stream);
    return target->Stop();
  });
}
