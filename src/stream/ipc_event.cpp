#include "stream/ipc_event.h"

#include <atomic>
#include <chrono>

#include "acl/error_codes/rt_error_codes.h"
#include "engine/watcher.h"
#include "stream/shared_name.h"

namespace ropeway {
namespace {

constexpr const char* kNeverDone = "the process that recorded the event has died or dropped the record";

Status NeverDone() { return Fail(ACL_ERROR_RT_IPC_ERROR, "%s", kNeverDone); }

}  // namespace

// The stream's point of a record: the home is told when the stream is there.
class IpcEvent::RecordOperation final : public Operation, public Ear {
 public:
  explicit RecordOperation(std::shared_ptr<IpcEvent> event) : event_(std::move(event)) {}
  void SetRecord(uint64_t record) {
    record_ = record;
    SetSignal(event_->SignalOf(record, Signal::Role::kSets));
  }
  // The stream will never come here.
  void Drop() { End(IpcEvent::End::kDropped, nullptr); }
  void Tell(int code) override {
    Operation::Finish(code, code == ACL_ERROR_RT_IPC_ERROR ? "the process that created the event has died" : "host memory is exhausted");
  }

 private:
  void Start() override { End(IpcEvent::End::kDone, Told(shared_from_this(), this)); }
  void Abandoned(bool started) override {
    if (!started) Drop();
  }
  void End(IpcEvent::End end, Told heard) {
    event_->ForgetOwn(record_);
    event_->Finish(record_, end, std::move(heard));
  }

  const std::shared_ptr<IpcEvent> event_;
  uint64_t record_ = 0;
};

// A stream's wait for a record. It is told from the time of the call on, whether the stream is there or not.
class IpcEvent::WaitOperation final : public Operation, public Ear {
 public:
  explicit WaitOperation(std::shared_ptr<IpcEvent> event) : event_(std::move(event)), watch_(NewWatch()) {}
  uint64_t watch() const { return watch_; }
  void SetRecord(uint64_t record) { SetSignal(event_->SignalOf(record, Signal::Role::kAwaits)); }
  void Tell(int code) override { Operation::Finish(code, kNeverDone); }

 private:
  void Start() override {}
  void Abandoned(bool) override { event_->Unwatch(watch_); }

  const std::shared_ptr<IpcEvent> event_;
  const uint64_t watch_;
};

// A host thread's wait.
class IpcEvent::Latch final : public Ear {
 public:
  void Tell(int with) override {
    LockGuard lock(mutex);
    told = true;
    code = with;
    changed.notify_all();
  }
  bool Await(Deadline deadline) {
    LockGuard lock(mutex);
    return changed.wait_until(mutex, deadline.at(), [this]() RW_REQUIRES(mutex) { return told; });
  }
  bool Done() {
    LockGuard lock(mutex);
    return told && code == 0;
  }

 private:
  Mutex mutex{LockRank::kEventLatch};
  Condition changed;
  bool told RW_GUARDED_BY(mutex) = false;
  int code RW_GUARDED_BY(mutex) = 0;
};

Signal IpcEvent::SignalOf(uint64_t record, Signal::Role role) const {
  return Signal::Shared(SharedNameOf(shared_name(), record), 0, role, false);
}

uint64_t IpcEvent::NewWatch() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Status IpcEvent::RecordOn(StreamRef stream, const FailureScope* current, const char* call) {
  StreamHold on(Streams(), Streams().Acquire(stream.stream, stream.generation));
  if (!on) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream was destroyed by another thread");
  auto operation = std::make_shared<RecordOperation>(shared_from_this());
  std::map<uint64_t, Own> own;
  own.emplace(0, Own{});
  auto place = own.extract(own.begin());  // there before the home knows of the record
  RW_TRY_SET(const uint64_t record, Register());
  operation->SetRecord(record);
  AddOwn(std::move(place), record, on.get());
  uint64_t sequence = 0;
  Status status = operation->LaunchOn(stream, current, 0, call, &sequence);
  if (status.ok()) {
    NumberOwn(record, sequence);
  } else {
    operation->Drop();
  }
  return status;
}

Status IpcEvent::AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call) {
  auto operation = std::make_shared<WaitOperation>(shared_from_this());
  RW_TRY_SET(const Latest latest, Watch(operation->watch(), operation));
  if (latest.state == State::kNothing) return Ok();
  if (latest.state == State::kFailed) operation->Finish(ACL_ERROR_RT_IPC_ERROR, kNeverDone);  // seen at synchronise
  operation->SetRecord(latest.record);
  Status status = operation->LaunchOn(stream, current, timeout_ns, call);
  if (!status.ok()) Unwatch(operation->watch());
  return status;
}

Result<bool> IpcEvent::Query() {
  RW_TRY_SET(Latest latest, Look());
  uint64_t sequence = 0;
  if (StreamHold own = FindOwn(latest.record, &sequence); own && latest.state == State::kPending) {
    own->queue().Poll();  // a late schedule takes it as a hint
    RW_TRY_SET(latest, Look());
  }
  if (latest.state == State::kFailed) return NeverDone();
  return latest.state == State::kNothing;
}

Status IpcEvent::Synchronize(Deadline deadline) {
  const auto latch = std::make_shared<Latch>();
  const uint64_t watch = NewWatch();
  RW_TRY_SET(const Latest latest, Watch(watch, latch));
  if (latest.state == State::kNothing) return Ok();
  if (latest.state == State::kFailed) return NeverDone();
  uint64_t sequence = 0;
  const HostWait wait(WaitReason::kProcess, 0, 0);
  // Waiting for the own stream helps it on; then only the home's word is missing.
  if (StreamHold own = FindOwn(latest.record, &sequence); own) {
    if (own->queue().Wait(sequence, deadline) == WaitOutcome::kAborted && !latch->Done()) {
      Unwatch(watch);
      return Fail(ACL_ERROR_RT_STREAM_ABORT, "the stream that should record the event was aborted");
    }
  }
  if (!latch->Await(deadline)) {
    Unwatch(watch);
    return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "the event is not complete yet; wait again or longer");
  }
  return latch->Done() ? Ok() : NeverDone();
}

// --- Own records --------------------------------------------------------------------------------------------------------

void IpcEvent::AddOwn(std::map<uint64_t, Own>::node_type place, uint64_t record, Stream* stream) {
  Streams().Retain(stream);
  place.key() = record;
  place.mapped() = {stream, 0};
  LockGuard lock(own_mutex_);
  own_.insert(std::move(place));
}

void IpcEvent::NumberOwn(uint64_t record, uint64_t sequence) {
  LockGuard lock(own_mutex_);
  if (auto found = own_.find(record); found != own_.end()) found->second.sequence = sequence;
}

void IpcEvent::ForgetOwn(uint64_t record) {
  StreamHold released;  // without the lock
  LockGuard lock(own_mutex_);
  auto found = own_.find(record);
  if (found == own_.end()) return;
  released = StreamHold(Streams(), found->second.stream);
  own_.erase(found);
}

StreamHold IpcEvent::FindOwn(uint64_t record, uint64_t* sequence) {
  LockGuard lock(own_mutex_);
  auto found = own_.find(record);
  if (found == own_.end()) return StreamHold();
  *sequence = found->second.sequence;
  Streams().Retain(found->second.stream);
  return StreamHold(Streams(), found->second.stream);
}

}  // namespace ropeway
