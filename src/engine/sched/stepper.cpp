#include "engine/sched/stepper.h"

#include <algorithm>
#include <chrono>

#include "base/own_thread.h"

namespace ropeway::sched {
namespace {

constexpr std::chrono::milliseconds kPatience(100);
// Under `latest`, how many polls make one task run.
constexpr uint64_t kPollsPerStep = 8;

}  // namespace

Stepper::Stepper(ScheduleKind kind, uint64_t seed) : Crew(true), kind_(kind), random_(seed) {
  patience_ = std::thread([this] { RunPatience(); });
}

Stepper::~Stepper() { Stop(); }

void Stepper::ExpectOneMore() {
  LockGuard lock(mutex_);
  runnable_.reserve(queues_ + 1);
  ++queues_;
}

// It may still be there from before an abort.
void Stepper::AddRunnable(LaneQueue& queue) {
  if (queue.linked.exchange(true, std::memory_order_acq_rel)) return;
  runnable_.push_back(&queue);
}

void Stepper::Submitted(LaneQueue& queue, const Task&) {
  LockGuard lock(mutex_);
  ++activity_;
  if (queue.TryQueue()) AddRunnable(queue);
  StepSome();
  changed_.notify_all();
}

void Stepper::Ready(LaneQueue& queue) {
  LockGuard lock(mutex_);
  AddRunnable(queue);
  // Inside a step the loop that made it will find the queue; a host function's return has no such loop.
  if (depth_ == 0 && kind_ == ScheduleKind::kEarliest) StepSome();
  changed_.notify_all();
}

void Stepper::Polled(LaneQueue& queue) {
  LockGuard lock(mutex_);
  ++activity_;
  if (kind_ == ScheduleKind::kRandom) {
    StepSome();
  } else if (++polls_ % kPollsPerStep == 0) {
    StepOne(&queue);
  }
}

void Stepper::StepSome() {
  if (depth_ > 0) return;
  switch (kind_) {
    case ScheduleKind::kEarliest:
      while (StepOne(nullptr)) {
      }
      break;
    case ScheduleKind::kRandom:
      while (random_() % 2 == 0 && StepOne(nullptr)) {
      }
      break;
    default: break;
  }
}

LaneQueue* Stepper::Choose(LaneQueue* wanted) {
  if (runnable_.empty()) return nullptr;
  auto chosen = runnable_.begin();
  if (kind_ == ScheduleKind::kRandom) {
    chosen += static_cast<std::ptrdiff_t>(random_() % runnable_.size());
  } else if (wanted != nullptr) {
    auto it = std::find(runnable_.begin(), runnable_.end(), wanted);
    if (it != runnable_.end()) chosen = it;
  }
  LaneQueue* queue = *chosen;
  runnable_.erase(chosen);
  queue->linked.exchange(false, std::memory_order_acq_rel);
  return queue;
}

bool Stepper::StepOne(LaneQueue* wanted) {
  if (stop_) return false;
  LaneQueue* queue = Choose(wanted);
  if (queue == nullptr) return false;
  if (!queue->TryOwn()) return true;  // an abort took it; not runnable, but something was done
  ++depth_;
  queue->RunOwned({.up_to = queue->completed() + 1});
  --depth_;
  changed_.notify_all();
  return true;
}

WaitOutcome Stepper::Wait(LaneQueue& queue, uint64_t sequence, Deadline deadline, uint64_t) {
  const uint32_t aborts = queue.aborts();
  LockGuard lock(mutex_);
  ++activity_;
  while (!queue.Reached(sequence)) {
    if (queue.aborts() != aborts) return WaitOutcome::kAborted;
    if (deadline.Passed()) return WaitOutcome::kTimeout;
    if (StepOne(&queue)) {
      // Let submitters and other waiters in between two tasks.
      lock.unlock();
      lock.lock();
      continue;
    }
    // Blocked on a host function or on somebody else: what changes that calls Ready or Aborted.
    if (deadline.never()) {
      changed_.wait(mutex_);
    } else {
      changed_.wait_until(mutex_, deadline.at());
    }
  }
  return queue.aborts() == aborts ? WaitOutcome::kDone : WaitOutcome::kAborted;
}

void Stepper::Aborted() {
  LockGuard lock(mutex_);
  changed_.notify_all();
}

void Stepper::RunPatience() {
  const OwnThread self("rw-patience");
  LockGuard lock(mutex_);
  while (!stop_) {
    if (runnable_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    const uint64_t before = activity_;
    const auto late = std::chrono::steady_clock::now() + kPatience;
    while (!stop_ && activity_ == before && !runnable_.empty() && changed_.wait_until(mutex_, late) == std::cv_status::no_timeout) {
    }
    if (activity_ == before) StepOne(nullptr);
  }
}

void Stepper::Stop() {
  {
    LockGuard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (patience_.joinable()) patience_.join();
  timer.Stop();
}

}  // namespace ropeway::sched
