#include "stream/model_run.h"

#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "base/clock.h"
#include "stream/model.h"

namespace ropeway {
namespace {

constexpr const char* kAborted = "the execution of the model was aborted";

}  // namespace

// --- One execution ------------------------------------------------------------------------------------------------------

Status ModelRun::QueueReplay(Stream& hidden, const FailureScope* scope, Task replay, uint64_t* sequence) {
  char before[FailureScope::kTextSize];
  hidden_ = &hidden;
  hidden.TakeError(before);  // of what went on behind an earlier mark
  hidden.quiet.store(true, std::memory_order_relaxed);
  Task enter = AwaitTask(start_.get(), &entrance_, 0, {}, replay.call);
  held_by_entrance_ = held_by_replay_ = shared_from_this();
  replay.replay.bindings[0].marker = &mark_;
  Status status = hidden.EnqueueNumbered(hidden.generation(), scope, enter, sequence);
  if (status.ok()) {
    status = hidden.EnqueueNumbered(hidden.generation(), scope, replay, sequence);
    if (status.ok()) return status;
    start_->Open();
  } else {
    entrance_.Dropped();
  }
  DropTask(replay);
  return status;
}

void ModelRun::Start() {
  started_.store(true, std::memory_order_release);
  start_->Open();
}

void ModelRun::Abandoned(bool started) {
  if (!started) return Cancel();
  abandoned_.store(true, std::memory_order_release);
}

// The first failure of the hidden stream drops the replay behind it.
void ModelRun::Cancel() {
  cancelled_.store(true, std::memory_order_release);
  hidden_->stops_alone.store(true, std::memory_order_release);
  start_->Open();
}

int ModelRun::Entrance::Failed(bool, TaskFailure* failure) const {
  return run_.cancelled_.load(std::memory_order_acquire) ? ropeway::Explain(failure, ACL_ERROR_RT_MODEL_ABORT_NORMAL, "%s", kAborted) : 0;
}

void ModelRun::Mark::Reached() {
  const std::shared_ptr<Operation> self = std::move(run_.held_by_replay_);
  char text[FailureScope::kTextSize];
  const int code = run_.hidden_->TakeError(text);
  self->Finish(code, text);
}

void ModelRun::Mark::Dropped() {
  const std::shared_ptr<Operation> self = std::move(run_.held_by_replay_);
  self->Finish(ACL_ERROR_RT_MODEL_ABORT_NORMAL, kAborted);
}

// --- Executions of a model ----------------------------------------------------------------------------------------------

Status Model::RequireRunnable() {
  if (state() == State::kBuilding) return Fail(ACL_ERROR_RT_MODEL_EXECUTE, "the model is still being built; call aclmdlRIBuildEnd first");
  if (state() != State::kReady) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the model is being destroyed by another thread");
  if (marks_ == 0)
    return Fail(ACL_ERROR_RT_MODEL_EXECUTE,
                "no stream of the model has an end; call aclmdlRIEndTask, or bind the stream that has it again");
  return Ok();
}

void Model::CollectRuns() {
  spare_.reserve(spare_.size() + executions_.size());
  std::erase_if(executions_, [&](Execution& execution) RW_REQUIRES(mutex_) {
    if (!execution.complete()) return false;
    spare_.push_back(std::move(execution.stream));
    return true;
  });
}

Result<StreamHold> Model::TakeHidden() {
  StreamHold spoilt, found;
  StreamHold like;
  {
    LockGuard lock(mutex_);
    CollectRuns();
    if (branch_states_.empty()) return Fail(ACL_ERROR_RT_MODEL_EXECUTE, "no stream is bound to the model");
    Streams().Retain(branch_states_[0].stream.get());
    like = StreamHold(Streams(), branch_states_[0].stream.get());
    if (!spare_.empty()) {
      found = std::move(spare_.back());
      spare_.pop_back();
      if (found->stops_alone.load()) std::swap(found, spoilt);
    }
  }
  if (spoilt) spoilt->EndHidden();
  if (found) return found;
  Stream* made = Stream::CreateHidden(*like);
  if (made == nullptr) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no stream left to execute the model on");
  Streams().Retain(made);
  return StreamHold(Streams(), made);
}

// A hidden stream that ends unless it is kept.
struct Model::HiddenLease {
  StreamHold stream;
  ~HiddenLease() {
    if (stream) stream->EndHidden();
  }
};

Status Model::ExecuteHandBuilt(StreamRef stream, const FailureScope* current, const char* call) {
  auto run = std::make_shared<ModelRun>();
  auto bindings = std::make_unique<ReplayBinding[]>(1);
  RW_TRY_SET(StreamHold taken, TakeHidden());
  HiddenLease hidden{std::move(taken)};
  {
    LockGuard lock(mutex_);
    RW_TRY(RequireRunnable());
    Resolve();
    ExpectExecution();
  }
  Task task{};
  task.kind = TaskKind::kReplay;
  task.call = call;
  task.replay = {&graph(), bindings.release(), FreeClock::Now(), 0};
  Models().Retain(this);  // the task's
  uint64_t sequence = 0;
  Status status = run->QueueReplay(*hidden.stream, scope_, task, &sequence);
  run->set_executing(stream.stream);
  AddExecution({std::move(hidden.stream), sequence, run});
  if (!status.ok()) return status;
  status = run->LaunchOn(stream, current, 0, call);
  if (!status.ok()) run->Cancel();
  return status;
}

// Room for one more, behind whose submit nothing may go wrong.
void Model::ExpectExecution() {
  executions_.reserve(executions_.size() + static_cast<size_t>(submitting_) + 1);
  ++submitting_;
}

void Model::AddExecution(Execution execution) {
  LockGuard lock(mutex_);
  executions_.push_back(std::move(execution));
  --submitting_;
}

Status Model::ExecuteOn(StreamRef caller) try {
  return ExecuteHandBuilt(caller, scope_, "aclmdlRIExecute");
} catch (const std::bad_alloc&) {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "host memory is exhausted: the model was not executed");
}

Status Model::ExecuteAndWait(Deadline deadline) {
  RW_TRY_SET(StreamHold taken, TakeHidden());
  HiddenLease lease{std::move(taken)};
  Stream* const caller = lease.stream.get();
  char before[FailureScope::kTextSize];
  caller->TakeError(before);
  caller->quiet.store(false, std::memory_order_relaxed);
  {
    LockGuard lock(mutex_);
    ExpectExecution();
  }
  Status status = ExecuteOn({caller, caller->generation()});
  if (!status.ok()) {
    LockGuard lock(mutex_);
    --submitting_;
    return status;
  }
  Streams().Retain(caller);
  const StreamHold held(Streams(), caller);
  AddExecution({std::move(lease.stream), caller->queue().submitted(), nullptr});
  return caller->Synchronize(deadline);
}

Status Model::Abort() {
  std::vector<StreamHold> running;
  {
    LockGuard lock(mutex_);
    for (Execution& execution : executions_) {
      if (execution.run == nullptr || execution.complete() || !execution.run->started()) continue;
      Streams().Retain(execution.stream.get());
      running.push_back(StreamHold(Streams(), execution.stream.get()));
    }
  }
  for (const StreamHold& stream : running) RW_TRY(stream->Abort());
  return Ok();
}

void Model::DropAbandonedRuns(Stream& stream) {
  if (hand_built_.load(std::memory_order_acquire) == 0) return;
  Models().ForEachInUse([&](Model* model) {
    std::vector<StreamHold> running;
    {
      LockGuard lock(model->mutex_);
      for (Execution& execution : model->executions_) {
        if (execution.run == nullptr || !execution.run->abandoned_by(stream)) continue;
        Streams().Retain(execution.stream.get());
        running.push_back(StreamHold(Streams(), execution.stream.get()));
        execution.run->set_executing(nullptr);  // once
      }
    }
    for (const StreamHold& hidden : running) static_cast<void>(hidden->Abort());
  });
}

}  // namespace ropeway
