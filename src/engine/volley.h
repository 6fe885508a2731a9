// A volley: neighbouring copies and sets of one stream that run side by side, because nobody can tell it from running in order
// (docs/lanes.md). Here is what the scheduler, the backends and those who look at memory have to agree on.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/faster_way.h"
#include "engine/task.h"

namespace ropeway {

// The next tasks of a queue or of a branch, in order; they stay where they are.
class TaskRun {
 public:
  // `ring`: the number of slots, a power of two, behind the last of which comes the first; 0 where there is no such end.
  TaskRun(const Task* tasks, size_t ring, size_t first, size_t count) : tasks_(tasks), mask_(ring - 1), first_(first), count_(count) {}
  const Task& operator[](size_t i) const { return tasks_[(first_ + i) & mask_]; }
  size_t count() const { return count_; }

 private:
  const Task* tasks_;
  size_t mask_;
  size_t first_;
  size_t count_;
};

// Tasks of a volley that have begun and are not complete: never more.
inline constexpr size_t kMostBegun = 16384;

// What a volley is made of: the tasks at the head of a queue or of a branch, more of them as time goes by, and where it tells what is
// complete. All calls come from the thread that runs the volley.
class VolleyFeed {
 public:
  explicit VolleyFeed(const TaskRun& run) : run_(run) {}
  // Task i is run()[i], also for those that came later than the run.
  const TaskRun& run() const { return run_; }
  // How many tasks there are by now. Not more than have been begun: no other shall be.
  virtual size_t Count() = 0;
  // Whether task `index`, which could be the next, may run. It is asked once for each, in order; if it may, the task begins.
  virtual bool Begins(size_t /*index*/) { return true; }
  // So many tasks, from the first, are complete.
  virtual void Completed(size_t count) = 0;
  // Where the same tasks come again and again: how many of the first are known to touch nothing of each other. kAsk: not known yet, and
  // whoever finds out tells. 0: nothing is known, and nobody wants to.
  static constexpr size_t kAsk = SIZE_MAX;
  virtual size_t KnownApart() const { return 0; }
  virtual void FoundApart(size_t /*count*/) {}
  // Of those that are known so: how long they took around the cache, in which their bytes may still be from the last time, and through it.
  // Null: nobody keeps that.
  static constexpr FasterWay::Way kAroundCache = FasterWay::kOne, kThroughCache = FasterWay::kOther;
  virtual FasterWay* Ways() { return nullptr; }

 protected:
  ~VolleyFeed() = default;

 private:
  const TaskRun run_;
};

// When it is time to look for a volley: not at every task of a chain, in which each needs the one in front of it. Where none was found,
// some tasks go by before the next look, and twice as many behind the next vain one.
class VolleySearch {
 public:
  bool Due(uint64_t task) const { return task >= not_before_; }
  void Ended(uint64_t task, bool found) {
    pause_ = found ? kFirstPause : pause_ < kLongestPause ? 2 * pause_ : kLongestPause;
    not_before_ = found ? task : task + pause_;
  }

 private:
  static constexpr uint64_t kFirstPause = 8;
  static constexpr uint64_t kLongestPause = 128;
  uint64_t not_before_ = 0;
  uint64_t pause_ = kFirstPause;
};

// Who may look at memory that others write in order, and when. While a volley is open its bytes come in any order.
//
//  1. Open adds to open_, then looks for those who forbid it; Forbid adds to forbidden_, then waits until none is open. All sequentially
//     consistent: one of the two sees the other. So behind Forbid no volley is open, and none begins before it goes.
//  2. A look at memory that is followed by a look at AnyOpen, which says no, has seen nothing of a volley, or of one that is closed.
//  3. Who looked and found a volley open is told: whoever closes one announces a change of memory (ValueWatch).
class Volleys {
 public:
  class Opened {
   public:
    explicit Opened(Volleys& volleys) : volleys_(volleys) {
      volleys_.open_.fetch_add(1, std::memory_order_seq_cst);
      allowed_ = volleys_.forbidden_.load(std::memory_order_seq_cst) == 0;
    }
    ~Opened() { volleys_.open_.fetch_sub(1, std::memory_order_seq_cst); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    bool allowed() const { return allowed_; }

   private:
    Volleys& volleys_;
    bool allowed_;
  };
  class Forbid {
   public:
    explicit Forbid(Volleys& volleys) : volleys_(volleys) {
      volleys_.forbidden_.fetch_add(1, std::memory_order_seq_cst);
      while (volleys_.AnyOpen()) sched_yield();  // who leads one sees that it is to end
    }
    ~Forbid() { volleys_.forbidden_.fetch_sub(1, std::memory_order_seq_cst); }
    Forbid(const Forbid&) = delete;
    Forbid& operator=(const Forbid&) = delete;

   private:
    Volleys& volleys_;
  };

  bool AnyOpen() const { return open_.load(std::memory_order_seq_cst) != 0; }
  bool Forbidden() const { return forbidden_.load(std::memory_order_relaxed) != 0; }

 private:
  alignas(64) std::atomic<int> open_{0};
  alignas(64) std::atomic<int> forbidden_{0};
};

}  // namespace ropeway
