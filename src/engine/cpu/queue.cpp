#include "engine/cpu/queue.h"

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/futex.h"
#include "base/spin_lock.h"
#include "engine/cpu/crew.h"
#include "engine/cpu/task_runner.h"
#include "engine/watcher.h"

namespace ropeway::cpu {
namespace {

constexpr int kTaskTimedOut = 107020;  // ACL_ERROR_RT_TASK_TIMEOUT

// A queue that shares its lane with others gives way after this much.
constexpr int kShareTasks = 64;
constexpr size_t kShareBytes = size_t{8} << 20;

}  // namespace

CpuQueue::CpuQueue(Crew& crew, TaskRunner& runner)
    : crew_(crew), stepped_(crew.wants_every_submit), runner_(runner), ring_(static_cast<Task*>(std::calloc(kRing, sizeof(Task)))) {
  if (ring_ == nullptr) throw std::bad_alloc();
}

CpuQueue::~CpuQueue() = default;

void CpuQueue::FreeRing::operator()(Task* ring) const { std::free(ring); }

void CpuQueue::Open(const QueueOptions& options) {
  options_ = options;
  SetPriority(options.priority);
  drop_up_to_.store(0, std::memory_order_release);
  halt_requested_.store(false, std::memory_order_release);
}

// --- Submitting ---------------------------------------------------------------------------------------------------------

Queue::Submission CpuQueue::Submit(Task& task) {
  const uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
  if (sequence > room_up_to_ || state_.load(std::memory_order_relaxed) == kIdle) {
    const uint64_t completed = completed_.load(std::memory_order_acquire);
    room_up_to_ = completed + kDepth;
    if (sequence > room_up_to_) [[unlikely]]
      return {0, false};
    if (completed + 1 == sequence) base_ = completed;  // empty: start at slot 0 again
  }
  task.id = static_cast<uint32_t>(sequence);
  ring_[(sequence - 1 - base_) % kRing] = task;
  submitted_.store(sequence, std::memory_order_seq_cst);
  // Whoever has the queue will see the task (invariant 2); only a crew that steps wants to hear of each.
  return {sequence, state() == kIdle || stepped_};
}

void CpuQueue::Kick(const Task& task) { crew_.Submitted(*this, task); }

void CpuQueue::AwaitRoom() {
  const uint64_t submitted = submitted_.load(std::memory_order_acquire);
  if (submitted < kDepth) return;
  // A submitter that waits for room helps, and makes room for a whole burst while it is at it.
  constexpr uint64_t kBurst = 64;
  crew_.Wait(*this, submitted - kDepth + 1, Deadline::Never(), kBurst);
}

// --- Running ------------------------------------------------------------------------------------------------------------

bool CpuQueue::TryOwn() {
  uint32_t state = state_.load(std::memory_order_relaxed);
  return (state == kIdle || state == kQueued) &&
         state_.compare_exchange_strong(state, kOwned, std::memory_order_seq_cst);
}

bool CpuQueue::TryQueue() {
  uint32_t idle = kIdle;
  return state_.compare_exchange_strong(idle, kQueued, std::memory_order_seq_cst);
}

bool CpuQueue::GoIdle() {
  const uint64_t done = executed_;
  state_.store(kIdle, std::memory_order_seq_cst);
  // From here on another owner may be at work: only `done` may be looked at.
  if (submitted_.load(std::memory_order_seq_cst) == done) return true;
  uint32_t idle = kIdle;
  return !state_.compare_exchange_strong(idle, kOwned, std::memory_order_seq_cst);
}

bool CpuQueue::SeeMore() {
  submitted_seen_ = submitted_.load(std::memory_order_acquire);
  if (executed_ == submitted_seen_) return false;
  head_base_ = base_;
  return true;
}

void CpuQueue::RunOwned(Share share) {
  int tasks = 0;
  size_t bytes = 0;
  for (;;) {
    if (executed_ == submitted_seen_ && !SeeMore()) {
      if (GoIdle()) return;
      continue;
    }
    const bool fair_share_used = share.rivals != nullptr && (tasks >= kShareTasks || bytes >= kShareBytes) &&
                                 share.rivals->load(std::memory_order_relaxed) > 0;
    if (executed_ >= share.up_to || fair_share_used) {
      state_.store(kQueued, std::memory_order_seq_cst);
      crew_.Ready(*this);
      return;
    }
    if (executed_ < drop_up_to_.load(std::memory_order_acquire)) [[unlikely]] {
      DropHead();
      continue;
    }
    if (halt_requested_.load(std::memory_order_relaxed)) [[unlikely]] {
      if (StayHalted()) return;
      continue;
    }
    bytes += TaskBytes(Head());
    ++tasks;
    if (!RunHead()) return;
  }
}

bool CpuQueue::StayHalted() {
  state_.store(kBlocked, std::memory_order_seq_cst);
  halted_.store(true, std::memory_order_seq_cst);
  if (halt_requested_.load(std::memory_order_seq_cst)) return true;
  if (!halted_.exchange(false, std::memory_order_seq_cst)) return true;  // an abort has the queue
  state_.store(kOwned, std::memory_order_seq_cst);
  return false;
}

bool CpuQueue::RunHead() {
  const Task& task = Head();
  Watcher* watcher = ActiveWatcher();
  if (watcher != nullptr) [[unlikely]]
    watcher->Started({options_.stream_id, options_.device, executed_ + 1, &task});
  int code = 0;
  switch (task.kind) {
    case TaskKind::kMark:
      task.mark.marker->Reached();
      break;
    case TaskKind::kAwait:
      if (!RunAwait(task)) return false;
      break;
    case TaskKind::kCall:
      if (!RunCall(task)) return false;
      break;
    case TaskKind::kFail: {
      code = task.fail.code;
      char text[160];
      snprintf(text, sizeof(text), "address %p is not device memory; a device-to-device copy needs device memory on both sides",
               task.fail.address);
      ReportFailure(task, code, text);
      break;
    }
    default:
      runner_.Run(task);
  }
  if (watcher != nullptr) [[unlikely]]
    watcher->Finished({options_.stream_id, options_.device, executed_ + 1, &task}, code);
  Advance();
  return true;
}

bool CpuQueue::RunAwait(const Task& task) {
  // Once the queue is parked it belongs to whoever opens the gate, and the slot may be gone: take what is needed before.
  Gate* gate = task.await.gate;
  const int64_t timeout_ns = task.await.timeout_ns;
  const uint64_t sequence = executed_ + 1;
  gate_.store(gate, std::memory_order_release);
  state_.store(kBlocked, std::memory_order_seq_cst);
  if (gate->PassOrPark(this)) {
    state_.store(kOwned, std::memory_order_seq_cst);
    gate_.store(nullptr, std::memory_order_release);
    task.await.marker->Reached();
    return true;
  }
  if (timeout_ns != 0) crew_.StartTimer(*this, sequence, Deadline::AfterNs(timeout_ns));
  return false;
}

bool CpuQueue::RunCall(const Task& task) {
  HostCallSink* sink = task.call_host.sink;
  HostCall call{task.call_host.function, task.call_host.argument, nullptr};
  if (!task.call_host.blocks) {
    sink->Post(call);
    return true;
  }
  call.on_return = this;
  sink_.store(sink, std::memory_order_release);
  state_.store(kBlocked, std::memory_order_seq_cst);
  sink->Post(call);
  return false;
}

void CpuQueue::DropHead() {
  const Task& task = Head();
  if (Watcher* watcher = ActiveWatcher()) watcher->Dropped({options_.stream_id, options_.device, executed_ + 1, &task});
  switch (task.kind) {
    case TaskKind::kMark:
      task.mark.marker->Dropped();
      break;
    case TaskKind::kAwait:
      task.await.marker->Dropped();
      break;
    default:
      runner_.Release(task);
  }
  Advance();
}

void CpuQueue::Advance() {
  ++executed_;
  completed_.store(executed_, std::memory_order_seq_cst);
  if (executed_ >= wake_at_.load(std::memory_order_seq_cst)) [[unlikely]] {
    wake_at_.exchange(UINT64_MAX, std::memory_order_seq_cst);
    progress_.fetch_add(1, std::memory_order_seq_cst);
    FutexWakeAll(progress_);
  }
}

void CpuQueue::ReportFailure(const Task& task, int code, const char* text) {
  if (options_.owner->TaskFailed(task, code, text)) drop_up_to_.store(UINT64_MAX, std::memory_order_release);
}

// --- Blocked heads ------------------------------------------------------------------------------------------------------

void CpuQueue::Resume(int code) {
  if (Watcher* watcher = ActiveWatcher()) [[unlikely]]
    watcher->Finished({options_.stream_id, options_.device, executed_ + 1, &Head()}, code);
  Advance();
  state_.store(kQueued, std::memory_order_seq_cst);
  crew_.Ready(*this);
}

void CpuQueue::Opened() { PassGate(0); }

void CpuQueue::PassGate(int code) {
  gate_.store(nullptr, std::memory_order_release);
  Head().await.marker->Reached();
  Resume(code);
}

void CpuQueue::Returned() {
  sink_.store(nullptr, std::memory_order_release);
  Resume(0);
}

void CpuQueue::TimeOut(uint64_t sequence) {
  Gate* gate = gate_.load(std::memory_order_acquire);
  if (gate == nullptr || completed() + 1 != sequence || !gate->Unpark(this)) return;
  // Unparked, so the queue is ours. It may have moved on to a later wait in between: then go back to it.
  if (executed_ + 1 != sequence) {
    if (gate->PassOrPark(this)) PassGate(0);
    return;
  }
  const Task& task = Head();
  char text[96];
  snprintf(text, sizeof(text), "the wait took longer than its limit of %lld ms",
           static_cast<long long>(task.await.timeout_ns / 1000000));
  ReportFailure(task, kTaskTimedOut, text);
  PassGate(kTaskTimedOut);
}

bool CpuQueue::Unblock() {
  Gate* gate = gate_.load(std::memory_order_acquire);
  HostCallSink* sink = sink_.load(std::memory_order_acquire);
  const bool ours = (gate != nullptr && gate->Unpark(this)) || (sink != nullptr && sink->Retract(this)) ||
                    halted_.exchange(false, std::memory_order_seq_cst);
  if (!ours) return false;
  gate_.store(nullptr, std::memory_order_release);
  sink_.store(nullptr, std::memory_order_release);
  state_.store(kOwned, std::memory_order_seq_cst);
  return true;
}

bool CpuQueue::Abort() {
  if (InsideOwnCall()) return false;
  const uint64_t last = submitted_.load(std::memory_order_seq_cst);
  uint64_t drop = drop_up_to_.load(std::memory_order_relaxed);
  while (drop < last && !drop_up_to_.compare_exchange_weak(drop, last, std::memory_order_seq_cst)) {
  }
  halt_requested_.store(false, std::memory_order_seq_cst);
  if (halted_.exchange(false, std::memory_order_seq_cst)) {
    state_.store(kOwned, std::memory_order_seq_cst);
    RunOwned({.up_to = last});
  }
  aborts_.fetch_add(1, std::memory_order_seq_cst);
  progress_.fetch_add(1, std::memory_order_seq_cst);
  FutexWakeAll(progress_);
  crew_.Aborted();
  for (int spins = 0; !Reached(last); ++spins) {
    if (TryOwn() || (state() == kBlocked && Unblock())) {
      RunOwned({.up_to = last});
    } else if (spins < 64) {
      sched_yield();
    } else {
      // A running copy or host function ends by itself; a gate that is just opening hands the queue over.
      SleepUntil(last, Deadline::AfterMs(1));
    }
  }
  crew_.Aborted();
  return true;
}

// --- Waiting ------------------------------------------------------------------------------------------------------------

WaitOutcome CpuQueue::Wait(uint64_t sequence, Deadline deadline) {
  if (Reached(sequence)) return WaitOutcome::kDone;
  return crew_.Wait(*this, sequence, deadline, 0);
}

void CpuQueue::Poll() { crew_.Polled(*this); }

void CpuQueue::SleepUntil(uint64_t sequence, Deadline deadline) {
  const uint32_t progress = progress_.load(std::memory_order_seq_cst);
  uint64_t wake_at = wake_at_.load(std::memory_order_relaxed);
  while (wake_at > sequence && !wake_at_.compare_exchange_weak(wake_at, sequence, std::memory_order_seq_cst)) {
  }
  if (!Reached(sequence)) FutexWait(progress_, progress, deadline);
}

}  // namespace ropeway::cpu
