// Time limits of stream-side waits. The thread is there from the beginning: where there is none to be had, the device cannot be set, and no wait
// finds itself without one later.
#pragma once

#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "engine/sched/queue.h"

namespace ropeway::sched {

class WaitTimer {
 public:
  WaitTimer() : thread_([this] { Run(); }) {}
  ~WaitTimer() { Stop(); }
  void Start(LaneQueue& queue, uint64_t sequence, Deadline deadline);
  void Stop();

 private:
  struct Entry {
    int64_t at_ns;
    LaneQueue* queue;  // queues are never freed, and a stale sequence number is recognised
    uint64_t sequence;
    bool operator>(const Entry& other) const { return at_ns > other.at_ns; }
  };
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace ropeway::sched
