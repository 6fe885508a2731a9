// Events (rules/events.md).
#include "api/event_handles.h"
#include "api/wait_limit.h"
#include "base/mutex.h"
#include "engine/watcher.h"
#include "runtime/product.h"
#include "stream/ipc_event.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint32_t kMaxEvents = 65536;
constexpr uint32_t kDefaultFlags = 0x0E;  // timestamp, progress, and the bit that marks a default event
constexpr uint32_t kCombinable = 0x0F;
constexpr uint32_t kProcessSetting = 0xFFFFFFFF;

Status CreateEvent(aclrtEvent* event, Event::Kind kind, uint32_t flags) {
  RW_TRY_SET(Context * context, CurrentContext());
  const bool hardware_id = kind == Event::Kind::kClassic;
  Event* made =
      hardware_id && Event::ids_in_use() >= kMaxEvents ? nullptr : Event::Create(kind, flags, context->device(), &context->scope());
  if (made == nullptr) return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "no event is left (%u at most); destroy some", kMaxEvents);
  *event = Events().HandleOf(made);
  return Ok();
}

Status RequireNotDeviceOnly(const Event& event) {
  if ((event.flags() & ACL_EVENT_DEVICE_USE_ONLY) == 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "event was created with ACL_EVENT_DEVICE_USE_ONLY");
}

// The first record and the first wait fix the flag that all later ones must use, even when they fail afterwards.
Status BindFlag(Event& event, int Event::*binding, uint32_t flag, const char* what) {
  LockGuard lock(event.lock());
  if (event.*binding < 0) event.*binding = static_cast<int>(flag);
  if (event.*binding == static_cast<int>(flag)) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag %u: the first %s of this event used flag %d, which binds it", flag, what, event.*binding);
}

// External operations belong to a graph that is being captured.
Status CaptureExternal(Event& event, StreamRef found, bool record, const char* call) {
  if (event.kind() != Event::Kind::kEx || event.flags() != ACL_EVENT_SYNC)
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "an external operation needs an event made by aclrtCreateEventExWithFlag with ACL_EVENT_SYNC alone");
  if (found.stream == nullptr || !found.stream->capturing())
    return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "an external operation needs a stream that is being captured");
  RW_TRY_SET(Context * context, CurrentContext());
  RW_TRY(found.stream->RequireContext(&context->scope()));
  return event.CaptureExternal(found, record, call);
}

Status RequireNotCaptured(const char* name, Event& event) {
  if (!event.TakesPartInCapture()) [[likely]]
    return Ok();
  return Fail(ACL_ERROR_RT_EVENT_CAPTURED, "%s was recorded in a capture that still runs; end the capture first", name);
}

Status RecordEvent(aclrtEvent event, aclrtStream stream, uint32_t flag, const char* call) {
  RW_TRY(RequirePointer("event", event));
  if (flag > ACL_EVENT_RECORD_EXTERNAL) return Reject(ACL_ERROR_INVALID_PARAM, "flag %u is neither 0 (default) nor 1 (external)", flag);
  RW_TRY_SET(EventHold target, FindEvent("event", event));
  RW_TRY_SET(StreamRef found, FindStream(stream));
  RW_TRY(RequireNotDeviceOnly(*target));
  RW_TRY(BindFlag(*target, &Event::record_flag, flag, "record"));
  if (flag == ACL_EVENT_RECORD_EXTERNAL) return CaptureExternal(*target, found, true, call);
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef on = OrDefault(found, *context);
  RW_TRY(on.stream->RequireContext(&context->scope()));
  if (target->device() != context->device())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "event was created on device %d and cannot be recorded on a stream of device %d",
                Runtime::UserIdOf(target->device()), Runtime::UserIdOf(context->device()));
  return target->RecordOn(on, &context->scope(), call);
}

Status AwaitEvent(aclrtStream stream, aclrtEvent event, uint32_t timeout_s, uint32_t flag, const char* call) {
  RW_TRY_SET(StreamRef found, FindStream(stream));
  RW_TRY_SET(EventHold target, FindEvent("event", event));
  RW_TRY(RequireNotDeviceOnly(*target));
  RW_TRY(BindFlag(*target, &Event::wait_flag, flag, "wait"));
  if (!target->can_be_awaited())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "event was created without ACL_EVENT_SYNC, so no stream can wait for it");
  if (flag == ACL_EVENT_WAIT_EXTERNAL) return CaptureExternal(*target, found, false, call);
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef on = OrDefault(found, *context);
  RW_TRY(on.stream->RequireContext(&context->scope()));
  const int64_t limit_ns = timeout_s == kProcessSetting ? OpWaitTimeoutNs() : int64_t{timeout_s} * 1000000000;
  return target->AwaitOn(on, &context->scope(), limit_ns, call);
}

Status RequireNotExternal(const Event& event) {
  if ((event.flags() & ACL_EVENT_EXTERNAL) == 0) return Ok();
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "event was created with ACL_EVENT_EXTERNAL: the host cannot ask for its state");
}

Status RequireOldStyle(const Event& event) {
  if (event.kind() != Event::Kind::kEx) return Ok();
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an event made by aclrtCreateEventExWithFlag is asked by aclrtQueryEventStatus");
}

// Whether the latest record is done; `unrecorded` is the answer when there is none. A late schedule may take it as a hint.
bool IsDone(Event& event, bool unrecorded) {
  RecordHold record = event.latest();
  if (!record) return unrecorded;
  if (record->state() == Record::State::kPending) record->stream().queue().Poll();
  return record->state() == Record::State::kDone;
}

// A record inside a replay is reached before the task that it belongs to is over.
WaitOutcome AwaitRecord(Record& record, Deadline deadline) {
  constexpr int kSliceMs = 1;
  if (record.state() == Record::State::kDone) return WaitOutcome::kDone;
  const HostWait wait(WaitReason::kEvent, static_cast<uint32_t>(record.stream().id()), record.sequence());
  Queue& queue = record.stream().queue();
  while (record.inside_replay() && record.state() == Record::State::kPending && !deadline.Passed()) {
    if (queue.Wait(record.sequence(), Deadline::AfterMs(kSliceMs)) != WaitOutcome::kTimeout) break;
  }
  return record.state() == Record::State::kDone ? WaitOutcome::kDone : queue.Wait(record.sequence(), deadline);
}

Status SynchronizeEvent(aclrtEvent event, Deadline deadline) {
  RW_TRY_SET(EventHold target, FindEvent("event", event));
  RW_TRY(RequireNotExternal(*target));
  RW_TRY(RequireNotCaptured("event", *target));
  if (target->recorded_in_model())
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                "event was recorded last on a stream of a model built by hand; wait for the stream that executes the model");
  RW_TRY(target->DeliverContextFailure());
  if (IpcEvent* shared = target->ipc()) {
    RW_TRY(shared->Synchronize(deadline));
    return target->DeliverContextFailure();
  }
  RecordHold record = target->latest();
  if (!record) return Ok();
  switch (AwaitRecord(*record, deadline)) {
    case WaitOutcome::kTimeout:
      return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "the event is not complete yet; its stream goes on, wait again or longer");
    case WaitOutcome::kAborted:
      if (record->state() != Record::State::kDone)
        return Fail(ACL_ERROR_RT_STREAM_ABORT, "the stream that should record the event was aborted");
      break;
    case WaitOutcome::kDone: break;
  }
  return target->DeliverContextFailure();
}

// The time at which the latest record was reached.
Result<int64_t> RecordTime(const char* name, Event& event) {
  if ((event.flags() & (ACL_EVENT_EXTERNAL | ACL_EVENT_IPC)) != 0)
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s is an external or IPC event, which keeps no time", name);
  RW_TRY(RequireNotCaptured(name, event));
  RecordHold record = event.latest();
  if (!record) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "%s was never recorded", name);
  if (!event.keeps_time()) return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "%s was created without ACL_EVENT_TIME_LINE", name);
  if (record->state() != Record::State::kDone)
    return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "%s is not complete yet; synchronise it first", name);
  return record->time_ns();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    return CreateEvent(event, Event::Kind::kDefault, kDefaultFlags);
  });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    const bool alone = flag == ACL_EVENT_DEVICE_USE_ONLY || flag == ACL_EVENT_EXTERNAL;
    if (flag == 0 || ((flag & ~kCombinable) != 0 && !alone))
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x must be an OR of 0x1, 0x2 and 0x8, or 0x10 alone, or 0x20 alone", flag);
    return CreateEvent(event, Event::Kind::kClassic, flag);
  });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    if (flag == 0 || ((flag & ~kCombinable) != 0 && flag != ACL_EVENT_IPC))
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x must be an OR of 0x1, 0x2 and 0x8, or 0x40 alone", flag);
    if (flag == ACL_EVENT_IPC && !ThisProduct().shares_events)
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no IPC events; use notifies", GetConfig().soc_name.c_str());
    return CreateEvent(event, Event::Kind::kEx, flag);
  });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    if (Event::Destroy(event)) return Ok();
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "event %p is not a live event (destroyed, or not an event at all)", event);
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return Entry(__func__, [&] { return RecordEvent(event, stream, ACL_EVENT_RECORD_DEFAULT, "aclrtRecordEvent"); });
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  return Entry(__func__, [&] { return RecordEvent(event, stream, flag, "aclrtRecordEventWithFlag"); });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY(RequireNotDeviceOnly(*target));
    if (target->kind() == Event::Kind::kEx || !target->can_be_awaited())
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "only events that streams can wait for, and that aclrtCreateEventWithFlag made, can be reset");
    RW_TRY_SET(Context * context, CurrentContext());
    const StreamRef on = OrDefault(found, *context);
    return target->ResetOn(on, &context->scope(), "aclrtResetEvent");
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    return AwaitEvent(stream, event, kProcessSetting, ACL_EVENT_WAIT_DEFAULT, "aclrtStreamWaitEvent");
  });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    if (timeout < 0) return Reject(ACL_ERROR_RT_PARAM_INVALID, "timeout %d is negative; 0 waits for ever", timeout);
    if (event == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "event is NULL");
    return AwaitEvent(stream, event, static_cast<uint32_t>(timeout), ACL_EVENT_WAIT_DEFAULT, "aclrtStreamWaitEventWithTimeout");
  });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    if (flag > ACL_EVENT_WAIT_EXTERNAL) return Reject(ACL_ERROR_INVALID_PARAM, "flag %u is neither 0 (default) nor 1 (external)", flag);
    if (flag == ACL_EVENT_WAIT_EXTERNAL && timeout != 0)
      return Reject(ACL_ERROR_INVALID_PARAM, "timeout %u must be 0 for an external wait", timeout);
    return AwaitEvent(stream, event, timeout, flag, "aclrtStreamWaitEventWithFlag");
  });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return Entry(__func__, [&] {
    g_op_wait_timeout_ns.store(int64_t{timeout} * 1000000000);
    return Ok();
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY(RequirePointer("status", status));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    RW_TRY(RequireNotExternal(*target));
    RW_TRY(RequireNotCaptured("event", *target));
    RW_TRY(target->CheckContext());
    bool done = false;
    if (IpcEvent* shared = target->ipc()) {
      RW_TRY_SET(done, shared->Query());
    } else {
      done = IsDone(*target, target->kind() == Event::Kind::kEx);
    }
    *status = done ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return Ok();
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY(RequirePointer("status", status));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    RW_TRY(RequireNotExternal(*target));
    RW_TRY(RequireOldStyle(*target));
    RW_TRY(RequireNotCaptured("event", *target));
    RW_TRY(target->CheckContext());
    *status = IsDone(*target, true) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return Ok();
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY(RequirePointer("status", status));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    RW_TRY(RequireNotExternal(*target));
    RW_TRY(RequireOldStyle(*target));
    if (Context* context = CurrentContextOrNull()) RW_TRY(context->scope().Check());
    if (target->HasOutstandingWaits()) IsDone(*target, true);  // a poll, too
    *status = target->HasOutstandingWaits() ? ACL_EVENT_WAIT_STATUS_NOT_READY : ACL_EVENT_WAIT_STATUS_COMPLETE;
    return Ok();
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    return SynchronizeEvent(event, Deadline::Never());
  });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    if (timeout < -1) return Reject(ACL_ERROR_RT_PARAM_INVALID, "timeout %d is below -1 (for ever)", timeout);
    RW_TRY(RequirePointer("event", event));
    if (timeout == 0) return Reject(ACL_ERROR_RT_PARAM_INVALID, "timeout 0 does not mean poll; use aclrtQueryEventStatus");
    return SynchronizeEvent(event, Deadline::AfterMs(timeout));
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ms", ms));
    RW_TRY(RequirePointer("startEvent", startEvent));
    RW_TRY(RequirePointer("endEvent", endEvent));
    RW_TRY_SET(EventHold start, FindEvent("startEvent", startEvent));
    RW_TRY_SET(EventHold end, FindEvent("endEvent", endEvent));
    RW_TRY_SET(int64_t start_ns, RecordTime("startEvent", *start));
    RW_TRY_SET(int64_t end_ns, RecordTime("endEvent", *end));
    *ms = static_cast<float>(static_cast<double>(end_ns - start_ns) / 1e6);
    return Ok();
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY(RequirePointer("timestamp", timestamp));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    RW_TRY_SET(int64_t time_ns, RecordTime("event", *target));
    *timestamp = static_cast<uint64_t>(time_ns) / 1000;
    return Ok();
  });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY(RequirePointer("eventId", eventId));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    if ((target->flags() & ACL_EVENT_IPC) != 0) return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an IPC event has no id");
    const bool has_id = target->can_be_awaited() && (target->kind() == Event::Kind::kClassic || target->latest());
    if (!has_id) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "event has no id: it was never recorded, or no stream can wait for it");
    *eventId = static_cast<uint32_t>(target->id());
    return Ok();
  });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("eventCount", eventCount));
    RW_TRY(CurrentContext().status());
    const uint64_t used = Event::ids_in_use();
    *eventCount = used < kMaxEvents ? static_cast<uint32_t>(kMaxEvents - used) : 0;
    return Ok();
  });
}
