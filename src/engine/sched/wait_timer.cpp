#include "engine/sched/wait_timer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>

#include "base/own_thread.h"

namespace ropeway::sched {

bool WaitTimer::Prepare() noexcept try {
  LockGuard lock(mutex_);
  const size_t wanted = entries_.size() + prepared_ + 1;
  if (wanted > entries_.capacity()) entries_.reserve(std::max<size_t>(16, 2 * wanted));
  ++prepared_;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void WaitTimer::Forgo() noexcept {
  LockGuard lock(mutex_);
  --prepared_;
}

void WaitTimer::Start(LaneQueue& queue, uint64_t sequence, Deadline deadline) noexcept {
  LockGuard lock(mutex_);
  --prepared_;
  if (stop_) return;
  entries_.push_back({deadline.at_ns(), &queue, sequence});
  std::push_heap(entries_.begin(), entries_.end(), std::greater<>());
  changed_.notify_one();
}

void WaitTimer::Run() {
  const OwnThread self("rw-timer");
  LockGuard lock(mutex_);
  while (!stop_) {
    if (entries_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    const Entry next = entries_.front();
    if (NowNs() < next.at_ns) {
      changed_.wait_until(mutex_, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next.at_ns)));
      continue;
    }
    std::pop_heap(entries_.begin(), entries_.end(), std::greater<>());
    entries_.pop_back();
    lock.unlock();
    next.queue->TimeOut(next.sequence);
    lock.lock();
  }
}

void WaitTimer::Stop() {
  {
    LockGuard lock(mutex_);
    stop_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace ropeway::sched
