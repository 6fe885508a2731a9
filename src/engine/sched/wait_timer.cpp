#include "engine/sched/wait_timer.h"

#include <chrono>

#include "base/own_thread.h"

namespace ropeway::sched {

void WaitTimer::Start(LaneQueue& queue, uint64_t sequence, Deadline deadline) {
  std::lock_guard lock(mutex_);
  if (stop_) return;
  entries_.push({deadline.at_ns(), &queue, sequence});
  changed_.notify_one();
}

void WaitTimer::Run() {
  const OwnThread self("rw-timer");
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Entry next = entries_.top();
    if (NowNs() < next.at_ns) {
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next.at_ns)));
      continue;
    }
    entries_.pop();
    lock.unlock();
    next.queue->TimeOut(next.sequence);
    lock.lock();
  }
}

void WaitTimer::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace ropeway::sched
