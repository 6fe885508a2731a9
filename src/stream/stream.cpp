#include "stream/stream.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "acl/error_codes/rt_error_codes.h"
#include "base/call_site.h"
#include "base/faults.h"
#include "engine/struck_task.h"
#include "engine/watcher.h"
#include "stream/exception_report.h"
#include "stream/fence.h"
#include "stream/model.h"

namespace ropeway {
namespace {

std::atomic<int> g_next_stream_id{1};

// What keeps a task at the head of its stream.
template <size_t N>
void DescribeWait(const Task& task, char (&text)[N]) {
  constexpr const char* kTests[] = {"at least", "equal to", "having a bit of", "lacking a bit of"};
  switch (task.kind) {
    case TaskKind::kAwaitValue:
      snprintf(text, N, ", which waits for the value at %p to be %s %llu", task.await_value.address,
               kTests[static_cast<size_t>(task.await_value.test)], static_cast<unsigned long long>(task.await_value.value));
      break;
    case TaskKind::kAwait:
      snprintf(text, N, ", which %s",
               (task.flags & Task::kDelays) != 0 ? "a rule of ROPEWAY_FAULTS delays" : "waits for a record that has not been reached");
      break;
    case TaskKind::kCall:
    case TaskKind::kKernel: snprintf(text, N, ", whose function has not returned"); break;
    case TaskKind::kReplay: snprintf(text, N, ", whose graph has not ended"); break;
    default: break;
  }
}

}  // namespace

constinit thread_local uint32_t t_last_task_id RW_HOT_TLS = 0xFFFFFFFF;
constinit thread_local uint64_t t_submitter RW_HOT_TLS = 0;

constinit NoDestroy<StreamSlab> g_streams;

Stream* Stream::Create(const StreamOptions& options) {
  SlabDraft<StreamSlab, Stream> stream(Streams(), Streams().Take());
  if (!stream) return nullptr;
  if (stream->queue_ == nullptr) stream->queue_ = options.engine->CreateQueue();
  {
    LockGuard lock(stream->lock_);  // a submitter with a stale handle may be looking
    stream->options_ = options;
    const uint64_t keeping = (options.flags & kPersistent) != 0 ? kKeeping : 0;
    const uint64_t watched = ActiveWatcher() != nullptr ? kWatched : 0;
    const uint64_t faulty = FaultsAreOn() && !options.hidden ? kFaulty : 0;  // read before the first stream is made
    // Whether it rests is a matter between fences and the queue, which may have been another stream's before.
    const uint64_t resting = stream->obstacles_.load(std::memory_order_relaxed) & kResting;
    stream->obstacles_.store(kNobody | keeping | watched | faulty | resting, std::memory_order_release);
  }
  stream->scope_.store(options.scope, std::memory_order_release);
  stream->id_.store(g_next_stream_id.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
  stream->priority_.store(options.priority, std::memory_order_relaxed);
  Stream* made = stream.Keep();
  made->queue_->Open({made, static_cast<uint32_t>(made->id()), options.device, options.priority});
  Streams().Publish(made);
  PassWatchTurnstile();
  if (ActiveWatcher() != nullptr) [[unlikely]]
    made->SetWatched(true);
  return made;
}

Stream* Stream::CreateHidden(const Stream& like) {
  StreamOptions options = like.options_;
  options.flags = 0;
  options.is_default = false;
  options.hidden = true;
  return Create(options);
}

void Stream::EndHidden() {
  if (BeginDestroy(generation())) FinishDestroy(true);
}

void Stream::SetWatched(bool watched) {
  LockGuard lock(lock_);
  watched ? obstacles_.fetch_or(kWatched, std::memory_order_seq_cst) : obstacles_.fetch_and(~kWatched, std::memory_order_seq_cst);
}

void Stream::Recycle() {
  DropKept();  // a model that outlived the stream has given its tasks back
  std::unique_ptr<GroupUpdate> update;
  {
    LockGuard lock(lock_);  // as above
    family = Family::kNone;
    mailbox = nullptr;
    update = std::move(update_);
  }
  stops_alone = false;
  quiet = false;
  stop_mode = false;
  overflow_switch = 0;
  custom_tag = 0;
  cache_op_info = 0;
  next_in_context = nullptr;
  known_order.Clear();
  submitters_.Clear();
  LockGuard lock(error_mutex_);
  error_code_.store(0, std::memory_order_relaxed);
  error_text_[0] = '\0';
}

Status Stream::MayEnqueue(uint32_t generation_seen, const FailureScope* current) {
  if (generation() != generation_seen) [[unlikely]]
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream was destroyed by another thread");
  RW_TRY(RequireContext(current));
  if (aborting()) [[unlikely]]
    return Fail(ACL_ERROR_RT_STREAM_ABORT, "stream %d is being aborted", id());
  return options_.scope->Check();
}

Status Stream::RequireContext(const FailureScope* current) const {
  if (scope_.load(std::memory_order_acquire) == current) [[likely]]
    return Ok();
  return Fail(ACL_ERROR_RT_STREAM_CONTEXT, "stream %p belongs to another context than the calling thread's; make its context current first",
              handle());
}

inline bool Stream::IsSound(uint32_t generation_seen, const FailureScope* current) const {
  return generation() == generation_seen && options_.scope == current && !options_.scope->failed();
}

inline bool Stream::Submitted(const Queue::Submission& submission, const Task& task) {
  if (submission.sequence == 0) [[unlikely]]
    return false;
  t_last_task_id = static_cast<uint32_t>(submission.sequence);
  if (submission.needs_kick) queue_->Kick(task);
  return true;
}

bool Stream::EnqueuePlainly(uint32_t generation_seen, const FailureScope* current, Task& task, const void* caller) {
  lock_.lock();
  if (!IsSound(generation_seen, current) || obstacles_.load(std::memory_order_relaxed) != t_submitter) [[unlikely]]
    return EnqueueNoted(generation_seen, current, task, caller);
  const Queue::Submission submission = queue_->Submit(task);
  lock_.unlock();
  return Submitted(submission, task);
}

// The same where somebody watches. Who wants to hear of the call as well is told outside of our lock: that is the long way.
bool Stream::EnqueueNoted(uint32_t generation_seen, const FailureScope* current, Task& task, const void* caller) {
  Queue::Submission submission{};
  Watcher* const watcher = ActiveWatcher();
  const bool noted = caller == nullptr || watcher == nullptr || !watcher->HearsCalls();
  if (noted && IsSound(generation_seen, current) && obstacles_.load(std::memory_order_relaxed) == (t_submitter | kWatched)) {
    if (caller != nullptr) t_call_site = {caller, task.call};
    submission = SubmitTold(task);
  }
  lock_.unlock();
  return Submitted(submission, task);
}

Status Stream::KnowSubmitter(uint64_t next) {
  if (t_submitter == 0) t_submitter = static_cast<uint64_t>(gettid()) << kSubmitterShift;
  const uint64_t change = (obstacles_.load(std::memory_order_relaxed) ^ t_submitter) & kSubmitter;
  if (change == 0) return Ok();
  try {
    submitters_.Change(next, static_cast<uint32_t>(t_submitter >> kSubmitterShift), queue_->completed());
  } catch (const std::bad_alloc&) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "host memory is exhausted");
  }
  obstacles_.fetch_xor(change, std::memory_order_relaxed);
  return Ok();
}

Status Stream::EnqueueNumbered(uint32_t generation_seen, const FailureScope* current, Task& task, uint64_t* sequence) {
  Struck struck;
  for (;;) {
    Queue::Submission submission{};
    bool resting = false, stored = false;
    if (capturing()) {
      Status status;
      if (!Capture(generation_seen, current, task, &status)) continue;
      *sequence = 0;
      return status;
    }
    {
      LockGuard lock(lock_);
      RW_TRY(MayEnqueue(generation_seen, current));
      if (capture_ != nullptr) continue;  // begun just now
      if (update_ != nullptr) {
        *sequence = 0;
        return KeepForUpdate(task);
      }
      if ((options_.flags & kPersistent) != 0) {
        *sequence = 0;
        if (model_ == nullptr) return KeepForLater(task);
        stored = true;
      }
      resting = (obstacles_.load(std::memory_order_relaxed) & kResting) != 0;
      if (!resting && !stored) {
        RW_TRY(KnowSubmitter(queue_->submitted() + 1));
        const bool faulty = (obstacles_.load(std::memory_order_relaxed) & kFaulty) != 0;
        submission = faulty ? SubmitStruck(task, &struck) : SubmitTold(task);
      }
    }
    if (stored) {
      Status status;
      if (!StoreInModel(task, &status)) continue;
      return status;
    }
    if (resting) {
      Fence::Rouse(*this);
      continue;
    }
    if (submission.sequence != 0) {
      *sequence = submission.sequence;
      t_last_task_id = task.id;
      if (submission.needs_kick) queue_->Kick(task);
      if (struck.replaced) ReleasePayload(task);
      return Ok();
    }
    const HostWait wait(WaitReason::kRoom, static_cast<uint32_t>(id()), queue_->submitted());
    queue_->AwaitRoom();
  }
}

// A watcher hears of a task once, and before anybody can run it. When there is no room, it is not tried: room that is made at that
// moment would take in a task that nobody was told of.
Queue::Submission Stream::SubmitTold(Task& task) {
  if (Watcher* const watcher = ActiveWatcher()) [[unlikely]] {
    const uint64_t sequence = queue_->NextSequence();
    if (sequence == 0) return {};
    watcher->Submitted({static_cast<uint32_t>(id()), options_.device, sequence, &task});
  }
  return queue_->Submit(task);
}

// A task that moves bytes fails instead of moving them. Others are carried out all the same, behind a failure, since somebody may count on
// their effects.
Queue::Submission Stream::SubmitStruck(Task& task, Struck* struck) {
  if (queue_->NextSequence() == 0) return {};
  if (!std::exchange(struck->decided, true)) {
    const FaultTarget target{task.call, options_.device_of_user, TaskBytes(task)};
    if (const auto fault = FaultOf(FaultKind::kDelay, target)) struck->delay_ns = fault->delay_ns;
    if (const auto fault = FaultOf(FaultKind::kFail, target)) struck->code = fault->code;
    struck->replaced = struck->code != 0 && MovesBytes(task.kind);
  }
  if (struck->delay_ns != 0) {
    Task delay = DelayTask(task.call, struck->delay_ns);
    if (SubmitTold(delay).sequence == 0) return {};
    struck->delay_ns = 0;
  }
  if (struck->code == 0) return SubmitTold(task);
  Task failing = FailingTask(task.call, struck->code);
  const Queue::Submission submission = SubmitTold(failing);
  if (submission.sequence == 0) return {};
  task.id = failing.id;
  if (struck->replaced) return submission;
  struck->code = 0;
  return SubmitTold(task);
}

bool Stream::Idle(uint32_t generation_seen, const FailureScope* current) {
  LockGuard lock(lock_);
  const uint64_t obstacles = obstacles_.load(std::memory_order_relaxed) & ~(kSubmitter | kResting);
  return IsSound(generation_seen, current) && obstacles == 0 && (options_.flags & kPersistent) == 0 &&
         queue_->completed() == queue_->submitted();
}

bool Stream::Rest() {
  LockGuard lock(lock_);
  if (queue_->completed() < queue_->submitted()) return false;
  obstacles_.fetch_or(kResting, std::memory_order_seq_cst);
  return true;
}

bool Stream::Rouse() {
  LockGuard lock(lock_);
  return (obstacles_.fetch_and(~kResting, std::memory_order_seq_cst) & kResting) != 0;
}

// False: the capture ended meanwhile, and the task belongs into the queue.
bool Stream::Capture(uint32_t generation_seen, const FailureScope* current, Task& task, Status* status) {
  {
    LockGuard lock(lock_);
    *status = MayEnqueue(generation_seen, current);
  }
  if (!status->ok()) return true;
  ModelHold model(Models(), HoldCapture());
  if (!model) return false;
  *status = model->Capture(*this, task);
  if (status->ok()) t_last_task_id = task.id;
  return status->code() != ACL_ERROR_RT_STREAM_NOT_CAPTURED;
}

// False: the stream was unbound meanwhile.
bool Stream::StoreInModel(Task& task, Status* status) {
  ModelHold model(Models(), HoldBinding());
  if (!model) return false;
  *status = model->Store(*this, task);
  if (status->ok()) t_last_task_id = task.id;
  return status->code() != ACL_ERROR_RT_STREAM_MODEL;
}

Model* Stream::HoldBinding() {
  LockGuard lock(lock_);
  if (model_ != nullptr) Models().Retain(model_);
  return model_;
}

bool Stream::EnterModel(Model* model, std::vector<Task>* kept) {
  auto room = std::make_unique<std::vector<Task>>();  // for what comes back, when nothing may go wrong
  LockGuard lock(lock_);
  if (model_ != nullptr || capture_ != nullptr || (generation() & 1) == 0) return false;
  if (kept_ == nullptr) kept_ = std::move(room);
  Models().Retain(model);
  model_ = model;
  kept->swap(*kept_);
  obstacles_.fetch_or(kBound, std::memory_order_seq_cst);
  return true;
}

void Stream::LeaveModel(Model* model, std::vector<Task>* kept) {
  {
    LockGuard lock(lock_);
    if (model_ != model) return;
    model_ = nullptr;
    if (kept_ != nullptr) kept_->swap(*kept);
    obstacles_.fetch_and(~kBound, std::memory_order_seq_cst);
  }
  Models().Release(model);
}

Model* Stream::HoldCapture() {
  LockGuard lock(lock_);
  if (capture_ != nullptr) Models().Retain(capture_);
  return capture_;
}

bool Stream::EnterCapture(Model* model) {
  LockGuard lock(lock_);
  if (capture_ != nullptr || (generation() & 1) == 0) return false;
  Models().Retain(model);
  capture_ = model;
  obstacles_.fetch_or(kCapturing, std::memory_order_seq_cst);
  return true;
}

void Stream::LeaveCapture(Model* model) {
  {
    LockGuard lock(lock_);
    if (capture_ != model) return;
    capture_ = nullptr;
    obstacles_.fetch_and(~kCapturing, std::memory_order_seq_cst);
  }
  Models().Release(model);
}

bool Stream::BeginUpdate(std::unique_ptr<GroupUpdate> update) {
  LockGuard lock(lock_);
  if (update_ != nullptr) return false;
  update_ = std::move(update);
  obstacles_.fetch_or(kUpdating, std::memory_order_seq_cst);
  return true;
}

std::unique_ptr<GroupUpdate> Stream::EndUpdate() {
  LockGuard lock(lock_);
  obstacles_.fetch_and(~kUpdating, std::memory_order_seq_cst);
  return std::move(update_);
}

Status Stream::KeepForUpdate(const Task& task) {
  if (task.kind != TaskKind::kKernel)
    return Fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "stream %d is updating a task group, which can hold kernels only", id());
  if (update_->full())
    return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is updating a task group of %zu kernels, and this is one more", id(),
                update_->wanted);
  update_->kernels.push_back(&KernelOf(task));
  return Ok();
}

// A Status, so that whoever submits takes back what the task would have held.
Status Stream::KeepForLater(const Task& task) try {
  if (kept_ != nullptr && kept_->size() >= kMostKept)
    return Fail(ACL_ERROR_RT_STREAM_TASK_FULL, "stream %d keeps %zu tasks already, as many as it can", id(), kMostKept);
  if (kept_ == nullptr) kept_ = std::make_unique<std::vector<Task>>();
  kept_->push_back(task);
  return Ok();
} catch (const std::bad_alloc&) {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "host memory is exhausted: stream %d cannot keep the task", id());
}

void Stream::DropKept() {
  std::unique_ptr<std::vector<Task>> kept;
  {
    LockGuard lock(lock_);
    kept = std::move(kept_);
  }
  if (kept == nullptr) return;
  for (const Task& task : *kept) DropTask(task);
}

// The queue is asked also when nothing is left: who waits for it will soon submit again, and lanes and schedules go by that.
WaitOutcome Stream::WaitTold(uint64_t sequence, Deadline deadline) {
  if (queue_->completed() >= sequence) return queue_->Wait(sequence, deadline);
  const HostWait wait(WaitReason::kWork, static_cast<uint32_t>(id()), sequence);
  return queue_->Wait(sequence, deadline);
}

Status Stream::ExplainTimeout(uint64_t last, int64_t waited_ns) {
  std::optional<Task> head;
  {
    LockGuard lock(lock_);
    head = queue_->FirstPending();
  }
  char waits_for[128] = "";
  if (head) DescribeWait(*head, waits_for);
  return Fail(
      ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
      "stream %d still has %llu tasks in front of this point after %lld ms%s%s%s; the work goes on: wait again or longer, or see to "
      "what it waits for",
      id(), static_cast<unsigned long long>(last - std::min(last, queue_->completed())), static_cast<long long>(waited_ns / 1000000),
      head ? ", the first is " : "", head ? head->call : "", waits_for);
}

Status Stream::AwaitWork(Deadline deadline) {
  if ((options_.flags & kNeverWaitedFor) != 0) return Ok();
  if (aborting()) return Fail(ACL_ERROR_RT_STREAM_ABORT, "stream %d is being aborted", id());
  const uint64_t last = queue_->submitted();
  const int64_t start = deadline.never() ? 0 : NowNs();
  switch (WaitTold(last, deadline)) {
    case WaitOutcome::kTimeout: return ExplainTimeout(last, NowNs() - start);
    case WaitOutcome::kAborted:
      RW_TRY(options_.scope->Deliver());  // a device that is lost aborts its streams
      return Fail(ACL_ERROR_RT_STREAM_ABORT, "stream %d was aborted while the call waited for it", id());
    case WaitOutcome::kDone: break;
  }
  if (Watcher* watcher = ActiveWatcher()) [[unlikely]]
    watcher->Ordered({static_cast<uint32_t>(id()), last, 0, 0, "synchronize"});
  return Ok();
}

Status Stream::Synchronize(Deadline deadline) {
  RW_TRY(options_.scope->Deliver());
  RW_TRY(AwaitWork(deadline));
  RW_TRY(options_.scope->Deliver());
  return DeliverError();
}

bool Stream::Query() {
  if ((options_.flags & kNeverWaitedFor) != 0) return true;
  const uint64_t last = queue_->submitted();
  if (queue_->completed() >= last) return true;
  queue_->Poll();
  return queue_->completed() >= last;
}

bool Stream::TaskFailed(const Task& task, uint64_t sequence, int code, const char* text) {
  // First of all: whoever finds the error waits for this report.
  const bool told = !quiet.load(std::memory_order_relaxed);
  if (told)
    ReportException({task.id, static_cast<uint32_t>(id()), submitters_.ThreadOf(sequence), static_cast<uint32_t>(options_.device),
                     static_cast<uint32_t>(code)});
  char message[FailureScope::kTextSize];
  snprintf(message, sizeof(message), "task %u of stream %d, submitted by %s: %s", task.id, id(), task.call, text);
  {
    LockGuard lock(error_mutex_);
    if (error_code_.load(std::memory_order_relaxed) == 0) {
      std::strcpy(error_text_, message);
      error_code_.store(code, std::memory_order_release);
    }
  }
  const bool stop = told && options_.scope->stops_on_failure();
  if (stop) options_.scope->SetFailed(code, message);
  return stop || stops_alone.load(std::memory_order_relaxed);
}

Status Stream::DeliverError() {
  if (error_code_.load(std::memory_order_acquire) == 0) [[likely]]
    return Ok();
  Status status = Ok();
  {
    LockGuard lock(error_mutex_);
    const int code = error_code_.exchange(0, std::memory_order_acq_rel);
    if (code == 0) return Ok();  // another waiter took it
    status = Fail(code, "%s", error_text_);
    error_text_[0] = '\0';
  }
  AwaitExceptionReports();
  return status;
}

int Stream::TakeError(char (&text)[FailureScope::kTextSize]) {
  LockGuard lock(error_mutex_);
  std::strcpy(text, error_text_);
  error_text_[0] = '\0';
  return error_code_.exchange(0, std::memory_order_acq_rel);
}

void Stream::SetPriority(int priority) {
  priority_.store(priority, std::memory_order_relaxed);
  queue_->SetPriority(priority);
}

bool Stream::BeginDestroy(uint32_t generation_seen) {
  LockGuard lock(lock_);  // behind every submitter that got in
  return Streams().Retire(this, generation_seen);
}

bool Stream::FinishDestroy(bool force) {
  if (queue_->InsideOwnCall()) return false;
  if (force || options_.scope->failed()) {
    queue_->Abort();
  } else {
    static_cast<void>(WaitTold(queue_->submitted(), Deadline::Never()));
  }
  Model::DropAbandonedRuns(*this);
  DropKept();
  AwaitExceptionReports();  // nobody will ask for the error any more
  Streams().Release(this);
  return true;
}

Status Stream::Abort() {
  if (queue_->InsideOwnCall()) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "called from a host function that stream %d waits for", id());
  obstacles_.fetch_or(kAborting, std::memory_order_seq_cst);
  {
    LockGuard lock(lock_);  // submitters that got in are in front of the abort
  }
  queue_->Abort();
  Model::DropAbandonedRuns(*this);
  {
    LockGuard lock(error_mutex_);
    error_code_.store(0, std::memory_order_release);
  }
  obstacles_.fetch_and(~kAborting, std::memory_order_seq_cst);
  AwaitExceptionReports();
  return Ok();
}

Status Stream::Stop() {
  if (aborting()) return Fail(ACL_ERROR_RT_STREAM_ABORT, "stream %d is being aborted", id());
  queue_->Halt();
  return Ok();
}

}  // namespace ropeway
