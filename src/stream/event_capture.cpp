// Events and stored work (rules/graphs.md 2, 3, rules/models.md 2). Inside a capture an Ex event with SYNC is an edge between branches;
// only external operations reach the outside.

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "stream/event.h"
#include "stream/model.h"

namespace ropeway {
namespace {

Status NotInCapture(const char* what) {
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 "%s cannot be captured; use an event made by aclrtCreateEventExWithFlag with ACL_EVENT_SYNC", what);
}

const char* KindOf(const Event& event) {
  if ((event.flags() & ACL_EVENT_IPC) != 0) return "an IPC event";
  return event.kind() == Event::Kind::kDefault ? "an event made by aclrtCreateEvent" : "an event made by aclrtCreateEventWithFlag";
}

// A body runs any number of times in a replay, and nobody outside could count them.
Status RequireNoBody(const Model& model) {
  if (!model.is_body()) return Ok();
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 "external operations cannot be in the body of a condition; capture them in the graph itself");
}

}  // namespace

bool Event::classic_external() const { return kind_ == Kind::kClassic && (flags_ & ACL_EVENT_EXTERNAL) != 0; }

Event::CapturedPoint Event::captured_point() {
  LockGuard lock(lock_);
  return captured_;
}

bool Event::TakesPartInCapture() {
  if (Model::open_captures() == 0) return false;
  const CapturedPoint point = captured_point();
  if (point.model == nullptr) return false;
  ModelHold model(Models(), Models().Acquire(point.model));
  return model && model->capturing();
}

Status Event::RecordInCapture(Stream& stream, Model& model, const char* call) {
  if (classic_external()) {
    RW_TRY(RequireNoBody(model));
    Events().Retain(this);
    Task task = MarkTask(&flag_set_, SignalOf(Signal::Role::kSets), call);
    task.flags = Task::kOfEvent;
    Status status = model.Capture(stream, task);
    if (!status.ok()) Events().Release(this);
    return status;
  }
  if (kind_ != Kind::kEx || (flags_ & ACL_EVENT_IPC) != 0) return NotInCapture(KindOf(*this));
  if ((flags_ & ACL_EVENT_SYNC) == 0) return Ok();  // nobody could wait for it
  uint32_t edge = 0;
  RW_TRY(model.CaptureRecord(stream, &edge, call));
  ForgetLatest(nullptr);
  LockGuard lock(lock_);
  captured_ = {Models().HandleOf(&model), edge};
  return Ok();
}

// Sets `handled` unless neither the event nor the stream has to do with a capture.
Status Event::AwaitCaptured(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call, bool* handled) {
  StreamHold on(Streams(), Streams().Acquire(stream.stream, stream.generation));
  if (!on) return Ok();  // found out again where it is queued
  const CapturedPoint point = captured_point();
  ModelHold of_event(Models(), point.model != nullptr ? Models().Acquire(point.model) : nullptr);
  ModelHold of_stream(Models(), on->HoldCapture());
  const bool event_takes_part = of_event && of_event->capturing();
  *handled = event_takes_part || of_stream;
  if (!*handled) return Ok();
  if (event_takes_part) {
    if (on->is_default())
      return Fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "the default stream cannot join a capture; wait on another stream");
    if (of_stream && of_stream.get() != of_event.get()) {
      of_stream->Invalidate();
      of_event->Invalidate();
      return Fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT, "the event was recorded in another capture than the one of stream %d", on->id());
    }
    return of_event->CaptureWait(*on, point.edge, call);
  }
  if (classic_external()) {
    RW_TRY(RequireNoBody(*of_stream));
    return AwaitFlag(stream, current, timeout_ns, call);
  }
  if (kind_ != Kind::kEx || (flags_ & ACL_EVENT_IPC) != 0) return NotInCapture(KindOf(*this));
  if (!latest()) return Ok();
  of_stream->Invalidate();
  return Fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
              "the event was recorded outside the capture of stream %d; use the EXTERNAL flag to wait for the outside", on->id());
}

Status Event::CaptureExternal(StreamRef stream, bool record, const char* call) {
  ModelHold model(Models(), stream.stream->HoldCapture());
  if (!model) return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "an external operation needs a stream that is being captured");
  RW_TRY(RequireNoBody(*model));
  StreamHold on(Streams(), Streams().Acquire(stream.stream, stream.generation));
  if (!on) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream was destroyed by another thread");
  const bool recorded = static_cast<bool>(latest());
  bool first;
  {
    LockGuard lock(lock_);
    first = !used_externally_;
    if (!recorded) used_externally_ = true;
  }
  Status status = recorded && first
                      ? Fail(ACL_ERROR_RT_PARAM_INVALID, "the event was recorded before its first external operation; use a fresh one")
                      : model->CaptureExternal(*on, *this, record, call);
  if (!status.ok()) model->Invalidate();
  return status;
}

Status Event::RequireStorable(const Stream& stream) const {
  if (!stream.bound() || kind_ == Kind::kClassic) [[likely]]
    return Ok();
  return Decline(
      ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
      "stream %d belongs to a model built by hand, which takes events made by aclrtCreateEventWithFlag alone; a notify does as well",
      stream.id());
}

Status Event::StoreRecord(StreamRef stream, const FailureScope* current, const char* call) {
  Events().Retain(this);
  Task task = MarkTask(&flag_set_, SignalOf(Signal::Role::kSets), call);
  task.flags = Task::kOfEvent;
  Status status = stream.stream->Enqueue(stream.generation, current, task);
  if (!status.ok()) {
    Events().Release(this);
    return status;
  }
  ForgetLatest(nullptr);
  LockGuard lock(lock_);
  recorded_in_model_ = true;
  return status;
}

bool Event::recorded_in_model() {
  LockGuard lock(lock_);
  return recorded_in_model_;
}

RecordHold Event::BindWait(ReplayBinding* binding) {
  RecordHold record = latest();
  if (!record || record->state() != Record::State::kPending) return RecordHold();
  Records().Retain(record.get());
  waits_.fetch_add(1, std::memory_order_relaxed);
  *binding = {&record->gate_, &record->wait_passed_};
  return record;
}

void Event::FlagSet::Reached() {
  event_.flag_.Open();
  Events().Release(&event_);
}

void Event::FlagSet::Dropped() { Events().Release(&event_); }

void Event::FlagSet::Repeat() { Events().Retain(&event_); }

}  // namespace ropeway
