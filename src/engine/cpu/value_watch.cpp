#include "engine/cpu/value_watch.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#if defined(ROPEWAY_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace ropeway::cpu {
namespace {

constexpr std::chrono::microseconds kFirstPause(50);
constexpr std::chrono::microseconds kLongestPause(2000);

#if defined(ROPEWAY_TSAN)
// Looking at memory while a copy writes it is what a value wait does; the sanitizer would call it a race. What a value write
// has published is acquired all the same.
[[gnu::no_sanitize_thread]] uint64_t LoadWord(const void* view) {
  using AnyWord [[gnu::aligned(1), gnu::may_alias]] = volatile uint64_t;
  const uint64_t word = *static_cast<const AnyWord*>(view);
  __tsan_acquire(const_cast<void*>(view));
  return word;
}
#else
uint64_t LoadWord(const void* view) {
  if (reinterpret_cast<uintptr_t>(view) % sizeof(uint64_t) == 0)
    return __atomic_load_n(static_cast<const uint64_t*>(view), __ATOMIC_ACQUIRE);
  uint64_t word;  // misaligned: works, but not as one access
  std::memcpy(&word, view, sizeof(word));
  return word;
}
#endif

}  // namespace

bool ValueWatch::Entry::Satisfied() const { return Holds(test, LoadWord(view), value); }

bool ValueWatch::PassOrPark(Waiter* waiter, const void* view, uint64_t value, ValueTest test) {
  const Entry entry{waiter, view, value, test};
  if (entry.Satisfied()) return true;
  std::lock_guard lock(mutex_);
  // Announced first, looked at again afterwards: a change in between is seen here or by the one who made it.
  waiting_.store(entries_.size() + 1, std::memory_order_seq_cst);
  if (entry.Satisfied()) {
    waiting_.store(entries_.size(), std::memory_order_seq_cst);
    return true;
  }
  entries_.push_back(entry);
  fresh_ = true;
  if (!stop_ && !thread_.joinable()) thread_ = std::thread([this] { Run(); });
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
    auto passed = std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.Satisfied(); });
    for (auto it = passed; it != entries_.end(); ++it) released.push_back(it->waiter);
    entries_.erase(passed, entries_.end());
    waiting_.store(entries_.size(), std::memory_order_seq_cst);
  }
  for (Waiter* waiter : released) waiter->Opened();
}

void ValueWatch::Run() {
  pthread_setname_np(pthread_self(), "rw-values");
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

}  // namespace ropeway::cpu
