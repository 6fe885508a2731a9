// Activities between those who run tasks, who put them down and go on, and those who make files or records of them, whenever that is. A
// thread of ours is called when many wait.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "profile/activity.h"

namespace ropeway {

class ActivityQueue {
 public:
  // `work` takes what waits; called on a thread of ours without a lock.
  explicit ActivityQueue(void (*work)()) : work_(work) {}

  // The thread is made, if there is none yet and one is to be had; without it everything waits for whoever takes it.
  void Prepare();
  // All or none of them: behind kMost they are counted as lost.
  void Put(std::span<const Activity> activities);
  std::vector<Activity> TakeAll();
  uint64_t TakeLost();
  // Work every so often, too; 0: only when many wait.
  void WorkEvery(uint32_t milliseconds);

 private:
  static constexpr size_t kMany = 4096;
  static constexpr size_t kMost = size_t{1} << 20;
  [[noreturn]] void Run();
  void AwaitWork();

  void (*const work_)();
  Mutex mutex_{LockRank::kActivities};
  Condition changed_;
  std::vector<Activity> waiting_ RW_GUARDED_BY(mutex_);
  uint64_t lost_ RW_GUARDED_BY(mutex_) = 0;
  uint32_t period_ms_ RW_GUARDED_BY(mutex_) = 0;
  bool has_thread_ RW_GUARDED_BY(mutex_) = false;
  bool changed_period_ RW_GUARDED_BY(mutex_) = false;
};

}  // namespace ropeway
