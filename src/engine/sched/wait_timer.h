// Time limits of stream-side waits. The thread is there from the beginning: where there is none to be had, the device cannot be set, and no
// wait finds itself without one later.
#pragma once

#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/sched/queue.h"

namespace ropeway::sched {

class WaitTimer {
 public:
  WaitTimer() : thread_([this] { Run(); }) {}
  ~WaitTimer() { Stop(); }
  // Room for one Start, which then cannot fail, or one Forgo. False: there is no memory.
  bool Prepare() noexcept;
  void Forgo() noexcept;
  void Start(LaneQueue& queue, uint64_t sequence, Deadline deadline) noexcept;
  void Stop();

 private:
  struct Entry {
    int64_t at_ns;
    LaneQueue* queue;  // queues are never freed, and a stale sequence number is recognised
    uint64_t sequence;
    bool operator>(const Entry& other) const { return at_ns > other.at_ns; }
  };
  void Run();

  Mutex mutex_{LockRank::kWaitTimer};
  Condition changed_;
  std::vector<Entry> entries_ RW_GUARDED_BY(mutex_);  // a heap, the next one first
  size_t prepared_ RW_GUARDED_BY(mutex_) = 0;
  bool stop_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace ropeway::sched
