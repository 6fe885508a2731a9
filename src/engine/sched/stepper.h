// The schedules that expose ordering bugs. No worker threads: every task runs inside some API call, one at a time under
// one lock, and a policy decides which. What a program sees is legal under each:
//   earliest     everything that can run has run when the submitting call returns
//   latest       nothing runs before somebody waits, polls often enough, or needs room
//   random:SEED  at every call some runnable tasks are run, of queues that the seed picks
// A program may also wait for a result by looking at memory, without any call: after kPatience without activity one task
// runs by itself, so that progress never needs a waiter.
#pragma once

#include <condition_variable>
#include <random>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/mutex.h"
#include "engine/sched/crew.h"

namespace ropeway::sched {

class Stepper final : public Crew {
 public:
  Stepper(ScheduleKind kind, uint64_t seed);
  ~Stepper() override;

  void ExpectOneMore() override;
  void Submitted(LaneQueue& queue, const Task& task) override;
  void Ready(LaneQueue& queue) override;
  WaitOutcome Wait(LaneQueue& queue, uint64_t sequence, Deadline deadline, uint64_t eagerness) override;
  void Polled(LaneQueue& queue) override;
  void Aborted() override;
  void Stop() override;

 private:
  void AddRunnable(LaneQueue& queue) RW_REQUIRES(mutex_);
  bool StepOne(LaneQueue* wanted) RW_REQUIRES(mutex_);
  LaneQueue* Choose(LaneQueue* wanted) RW_REQUIRES(mutex_);
  void StepSome() RW_REQUIRES(mutex_);

  void RunPatience();

  const ScheduleKind kind_;
  // Recursive, because a task that opens a gate makes other queues ready.
  RecursiveMutex mutex_{LockRank::kStepper};
  std::condition_variable_any changed_;
  std::vector<LaneQueue*> runnable_ RW_GUARDED_BY(mutex_);  // in the order in which they became so
  size_t queues_ RW_GUARDED_BY(mutex_) = 0;                 // each is runnable once at most
  std::mt19937_64 random_ RW_GUARDED_BY(mutex_);
  uint64_t polls_ RW_GUARDED_BY(mutex_) = 0;
  uint64_t activity_ RW_GUARDED_BY(mutex_) = 0;
  int depth_ RW_GUARDED_BY(mutex_) = 0;  // of steps in progress on the thread that holds the lock
  bool stop_ RW_GUARDED_BY(mutex_) = false;
  std::thread patience_;
};

}  // namespace ropeway::sched
