#include "stream/event.h"

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "base/no_destroy.h"
#include "engine/watcher.h"
#include "stream/ipc_event_home.h"
#include "stream/model.h"

namespace ropeway {
namespace {

std::atomic<int> g_next_event_id{1};
std::atomic<uint64_t> g_ids_in_use{0};

Task EventWait(Gate* gate, Marker* marker, int64_t timeout_ns, const Signal& signal, const char* call) {
  Task task = AwaitTask(gate, marker, timeout_ns, signal, call);
  task.flags = Task::kOfEvent;
  return task;
}

}  // namespace

RecordSlab& Records() {
  static constinit NoDestroy<RecordSlab> slab;
  return slab.get();
}

EventSlab& Events() {
  static constinit NoDestroy<EventSlab> slab;
  return slab.get();
}

// --- Record -------------------------------------------------------------------------------------------------------------

void Record::Reached() {
  time_ns_ = NowNs();
  race_detector::HandOver(this);
  state_.store(State::kDone, std::memory_order_release);
  if (event_->kind_ == Event::Kind::kClassic) event_->flag_.Open();
  gate_.Open();
  Records().Release(this);  // the task's
}

void Record::Dropped() {
  state_.store(State::kDropped, std::memory_order_release);
  event_->ForgetLatest(this);
  Records().Release(this);
}

void Record::Repeat() { Records().Retain(this); }

// Waits for a classic event look at its flag, which a reset may close.
Gate* Record::Opens() { return event_->kind_ == Event::Kind::kClassic ? nullptr : &gate_; }

void Record::WaitPassed::Reached() {
  record_.event_->waits_.fetch_sub(1, std::memory_order_release);
  Records().Release(&record_);
}

void Record::Recycle() {
  gate_.Close();
  state_.store(State::kPending, std::memory_order_relaxed);
  if (event_ != nullptr) Events().Release(std::exchange(event_, nullptr));
  if (stream_ != nullptr) Streams().Release(std::exchange(stream_, nullptr));
}

// --- Event --------------------------------------------------------------------------------------------------------------

Event* Event::Create(Kind kind, uint32_t flags, int device, FailureScope* scope) {
  const bool ipc = (flags & ACL_EVENT_IPC) != 0;
  return Make(kind, flags, device, scope, ipc ? std::make_shared<EventHome>(device) : nullptr);
}

Event* Event::Adopt(std::shared_ptr<IpcEvent> opened, int device, FailureScope* scope) {
  return Make(Kind::kEx, ACL_EVENT_IPC, device, scope, std::move(opened));
}

Event* Event::Make(Kind kind, uint32_t flags, int device, FailureScope* scope, std::shared_ptr<IpcEvent> ipc) {
  Event* event = Events().Take();
  if (event == nullptr) return nullptr;
  event->kind_ = kind;
  event->flags_ = flags;
  event->device_ = device;
  event->scope_ = scope;
  event->scope_epoch_ = scope->epoch();
  event->ipc_ = std::move(ipc);
  event->id_ = g_next_event_id.fetch_add(1, std::memory_order_relaxed) & 0xFFFF;
  if (kind == Kind::kClassic) event->TakeId();
  Events().Publish(event);
  return event;
}

bool Event::Destroy(void* handle) {
  EventHold event(Events(), Events().Acquire(handle));
  if (!event || !Events().Retire(event.get(), event->generation())) return false;
  event->ForgetLatest(nullptr);
  if (event->ipc_ != nullptr) event->ipc_->Withdraw();
  if (event->has_id_.exchange(false, std::memory_order_relaxed)) g_ids_in_use.fetch_sub(1, std::memory_order_relaxed);
  Events().Release(event.get());  // the handle's
  return true;
}

void Event::Recycle() {
  flag_.Close();
  waits_.store(0, std::memory_order_relaxed);
  ipc_.reset();
  LockGuard lock(lock_);
  record_flag = -1;
  wait_flag = -1;
  captured_ = {};
  used_externally_ = false;
  recorded_in_model_ = false;
}

void Event::TakeId() {
  if (!has_id_.exchange(true, std::memory_order_relaxed)) g_ids_in_use.fetch_add(1, std::memory_order_relaxed);
}

uint64_t Event::ids_in_use() { return g_ids_in_use.load(std::memory_order_relaxed); }

bool Event::keeps_time() const { return kind_ == Kind::kDefault || (flags_ & ACL_EVENT_TIME_LINE) != 0; }

bool Event::can_be_awaited() const {
  return kind_ == Kind::kDefault || (flags_ & (ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC)) != 0;
}

RecordHold Event::latest() {
  LockGuard lock(lock_);
  if (latest_ == nullptr) return RecordHold();
  Records().Retain(latest_);
  return RecordHold(Records(), latest_);
}

void Event::ForgetLatest(const Record* only_if) {
  Record* forgotten = nullptr;
  {
    LockGuard lock(lock_);
    if (only_if == nullptr || latest_ == only_if) forgotten = std::exchange(latest_, nullptr);
  }
  if (forgotten != nullptr) Records().Release(forgotten);
}

Record* Event::MakeRecord(Stream* on, bool inside_replay) {
  Record* record = Records().Take();
  if (record == nullptr) return nullptr;
  Events().Retain(this);
  record->event_ = this;
  Streams().Retain(on);
  record->stream_ = on;
  record->inside_replay_ = inside_replay;
  Records().Share(record);
  Records().Retain(record);
  return record;
}

void Event::AdoptRecord(Record* record, uint64_t sequence, bool queued) {
  RecordHold ours(Records(), record);
  if (!queued) return;
  record->sequence_.store(sequence, std::memory_order_release);
  TakeId();
  Record* before;
  {
    LockGuard lock(lock_);
    before = std::exchange(latest_, record);
    captured_ = {};
    recorded_in_model_ = false;
    Records().Retain(record);
  }
  if (before != nullptr) Records().Release(before);
  if (record->state() == Record::State::kDropped) ForgetLatest(record);
}

Status Event::RecordOn(StreamRef stream, const FailureScope* current, const char* call) {
  StreamHold on(Streams(), Streams().Acquire(stream.stream, stream.generation));
  if (!on) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream was destroyed by another thread");
  if (on->capturing()) {
    ModelHold model(Models(), on->HoldCapture());
    if (model) return RecordInCapture(*on, *model, call);
  }
  RW_TRY(RequireStorable(*on));
  if (on->bound()) return StoreRecord(stream, current, call);
  if (ipc_ != nullptr) return ipc_->RecordOn(stream, current, call);
  Record* record = MakeRecord(on.get(), false);
  if (record == nullptr) return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "too many event records are in flight");
  Task task = MarkTask(record, SignalOf(Signal::Role::kSets), call);
  uint64_t sequence = 0;
  Status status = on->EnqueueNumbered(stream.generation, current, task, &sequence);
  if (!status.ok()) Records().Release(record);  // the task that never was
  AdoptRecord(record, sequence, status.ok());
  return status;
}

Status Event::AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call) {
  if (Model::open_captures() > 0) {
    bool handled = false;
    Status status = AwaitCaptured(stream, current, timeout_ns, call, &handled);
    if (handled) return status;
  }
  RW_TRY(RequireStorable(*stream.stream));
  if (ipc_ != nullptr) return ipc_->AwaitOn(stream, current, timeout_ns, call);
  return kind_ == Kind::kClassic ? AwaitFlag(stream, current, timeout_ns, call) : AwaitRecord(stream, current, timeout_ns, call);
}

Status Event::AwaitRecord(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call) {
  RecordHold record = latest();
  if (!record) {
    if (kind_ == Kind::kEx) return Ok();
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "event was never recorded; record it before a stream waits for it");
  }
  if (kind_ == Kind::kEx && record->stream_ == stream.stream) return Ok();
  if (record->state() == Record::State::kDone) {
    stream.stream->known_order.Learn(record->stream_->id(), record->sequence());
    return Ok();
  }
  Records().Retain(record.get());
  waits_.fetch_add(1, std::memory_order_relaxed);
  Task task = EventWait(&record->gate_, &record->wait_passed_, timeout_ns, {}, call);
  uint64_t sequence = 0;
  Status status = stream.stream->EnqueueNumbered(stream.generation, current, task, &sequence);
  if (!status.ok()) {
    record->wait_passed_.Reached();
    return status;
  }
  if (sequence != 0) stream.stream->known_order.Learn(record->stream_->id(), record->sequence());
  if (Watcher* watcher = ActiveWatcher()) [[unlikely]]
    watcher->Ordered({static_cast<uint32_t>(record->stream_->id()), record->sequence(), static_cast<uint32_t>(stream.stream->id()),
                      sequence, call, static_cast<uint32_t>(id_)});
  return Ok();
}

Status Event::AwaitFlag(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call) {
  Events().Retain(this);
  waits_.fetch_add(1, std::memory_order_relaxed);
  Task task = EventWait(&flag_, &flag_wait_passed_, timeout_ns, SignalOf(Signal::Role::kAwaits), call);
  Status status = stream.stream->Enqueue(stream.generation, current, task);
  if (!status.ok()) flag_wait_passed_.Reached();
  return status;
}

Status Event::ResetOn(StreamRef stream, const FailureScope* current, const char* call) {
  if (stream.stream->capturing() && !classic_external())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "the reset of an event without ACL_EVENT_EXTERNAL cannot be captured; reset it outside the capture");
  RW_TRY(RequireStorable(*stream.stream));
  if (ModelHold model(Models(), stream.stream->HoldCapture()); model && model->is_body())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "external operations cannot be in the body of a condition");
  Events().Retain(this);
  Task task = MarkTask(&flag_reset_, SignalOf(Signal::Role::kTakesBack), call);
  task.flags = Task::kOfEvent | Task::kTakesBack;
  Status status = stream.stream->Enqueue(stream.generation, current, task);
  if (!status.ok()) Events().Release(this);
  return status;
}

void Event::FlagWaitPassed::Reached() {
  event_.waits_.fetch_sub(1, std::memory_order_release);
  Events().Release(&event_);
}

void Event::FlagWaitPassed::Repeat() {
  Events().Retain(&event_);
  event_.waits_.fetch_add(1, std::memory_order_relaxed);
}

void Event::FlagReset::Reached() {
  event_.flag_.Close();
  Events().Release(&event_);
}

void Event::FlagReset::Dropped() { Events().Release(&event_); }

void Event::FlagReset::Repeat() { Events().Retain(&event_); }

}  // namespace ropeway
