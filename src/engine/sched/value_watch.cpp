#include "engine/sched/value_watch.h"

#include <algorithm>
#include <chrono>

#include "base/own_thread.h"

namespace ropeway::sched {
namespace {

constexpr std::chrono::microseconds kFirstPause(50);
constexpr std::chrono::microseconds kLongestPause(2000);

}  // namespace

bool ValueWatch::Satisfied(const Entry& entry) const {
  return Holds(entry.test, backend_.LoadWord(entry.address), entry.value);
}

bool ValueWatch::PassOrPark(Waiter* waiter, const void* address, uint64_t value, ValueTest test) {
  const Entry entry{waiter, address, value, test};
  if (Satisfied(entry)) return true;
  std::lock_guard lock(mutex_);
  // Announced first, looked at again afterwards: a change in between is seen here or by the one who made it.
  waiting_.store(entries_.size() + 1, std::memory_order_seq_cst);
  if (Satisfied(entry)) {
    waiting_.store(entries_.size(), std::memory_order_seq_cst);
    return true;
  }
  entries_.push_back(entry);
  fresh_ = true;
  changed_.notify_one();
  return false;
}

bool ValueWatch::Unpark(Waiter* waiter) {
  std::lock_guard lock(mutex_);
  auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.waiter == waiter; });
  if (it == entries_.end()) return false;
  entries_.erase(it);
  waiting_.store(entries_.size(), std::memory_order_seq_cst);
  return true;
}

void ValueWatch::Look() {
  std::vector<Waiter*> released;
  {
    std::lock_guard lock(mutex_);
    auto passed = std::stable_partition(entries_.begin(), entries_.end(), [this](const Entry& entry) { return !Satisfied(entry); });
    for (auto it = passed; it != entries_.end(); ++it) released.push_back(it->waiter);
    entries_.erase(passed, entries_.end());
    waiting_.store(entries_.size(), std::memory_order_seq_cst);
  }
  for (Waiter* waiter : released) waiter->Opened();
}

void ValueWatch::Run() {
  const OwnThread self("rw-values");
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    pause = fresh_ ? kFirstPause : std::min(2 * pause, kLongestPause);
    fresh_ = false;
    changed_.wait_for(lock, pause, [this] { return stop_; });
    lock.unlock();
    Look();
    lock.lock();
  }
}

void ValueWatch::Stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace ropeway::sched
