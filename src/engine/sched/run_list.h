// The queues that wait for one lane, by priority. Touched when a queue changes state, never once per task.
#pragma once

#include <atomic>

#include "base/spin_lock.h"
#include "engine/sched/queue.h"

namespace ropeway::sched {

class RunList {
 public:
  static constexpr int kPriorities = 8;

  // A queue that a helper took out of turn may still be linked from before, here or in another list: then the old place serves.
  // True: the list was empty, so nobody cares for it yet.
  bool Push(LaneQueue& queue) {
    if (queue.linked.exchange(true, std::memory_order_acq_rel)) return false;
    LockGuard lock(lock_);
    queue.next_queued = nullptr;
    List& list = lists_[queue.priority()];
    (list.last != nullptr ? list.last->next_queued : list.first) = &queue;
    list.last = &queue;
    return size_.fetch_add(1, std::memory_order_seq_cst) == 0;
  }

  // The next queue in turn, or null. Its state may have changed since it was pushed: the caller tries to own it. Smaller
  // numbers go first, but now and then the largest number is served so that nobody starves.
  LaneQueue* Pop() {
    if (size_.load(std::memory_order_seq_cst) == 0) return nullptr;
    const LaneQueue* next = nullptr;
    LaneQueue* const queue = Take(&next);
    if (next != nullptr) next->ExpectOwner();  // its lines come while this one runs; who pushes need not wait for them
    return queue;
  }

  const std::atomic<int>& size() const { return size_; }
  // How often a queue was taken out: a list that moves on has somebody who cares for it.
  uint32_t turns() const { return turns_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kStarvationGuard = 16;
  struct List {
    LaneQueue* first = nullptr;
    LaneQueue* last = nullptr;
  };

  // `next`: the one behind it, which somebody else may have by the time the caller looks. Queues stay as long as the crew.
  LaneQueue* Take(const LaneQueue** next) {
    LockGuard lock(lock_);
    const uint32_t turn = turns_.load(std::memory_order_relaxed) + 1;
    turns_.store(turn, std::memory_order_relaxed);
    const bool backwards = turn % kStarvationGuard == 0;
    for (int i = 0; i < kPriorities; ++i) {
      List& list = lists_[backwards ? kPriorities - 1 - i : i];
      LaneQueue* queue = list.first;
      if (queue == nullptr) continue;
      *next = list.first = queue->next_queued;
      if (list.first == nullptr) list.last = nullptr;
      queue->linked.exchange(false, std::memory_order_acq_rel);
      size_.fetch_sub(1, std::memory_order_seq_cst);
      return queue;
    }
    return nullptr;
  }

  // In this order: the usual priority is on the same cache line as what everybody needs.
  SpinLock lock_{LockRank::kRunList};
  std::atomic<uint32_t> turns_{0};  // written under lock_
  std::atomic<int> size_{0};
  List lists_[kPriorities] RW_GUARDED_BY(lock_);
};

}  // namespace ropeway::sched
