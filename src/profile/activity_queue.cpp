#include "profile/activity_queue.h"

#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/own_thread.h"

namespace ropeway {

void ActivityQueue::Prepare() {
  {
    LockGuard lock(mutex_);
    if (std::exchange(has_thread_, true)) return;
  }
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error&) {
    LockGuard lock(mutex_);
    has_thread_ = false;
  }
}

void ActivityQueue::Put(std::span<const Activity> activities) {
  bool many = false;
  {
    LockGuard lock(mutex_);
    const size_t before = waiting_.size();
    try {
      if (before + activities.size() > kMost) throw std::bad_alloc();
      waiting_.insert(waiting_.end(), activities.begin(), activities.end());
    } catch (const std::bad_alloc&) {
      lost_ += activities.size();
      return;
    }
    many = before < kMany && waiting_.size() >= kMany;
  }
  if (many) changed_.notify_one();
}

std::vector<Activity> ActivityQueue::TakeAll() {
  LockGuard lock(mutex_);
  return std::exchange(waiting_, {});
}

uint64_t ActivityQueue::TakeLost() {
  LockGuard lock(mutex_);
  return std::exchange(lost_, 0);
}

void ActivityQueue::WorkEvery(uint32_t milliseconds) {
  {
    LockGuard lock(mutex_);
    period_ms_ = milliseconds;
    changed_period_ = true;
  }
  changed_.notify_one();
}

// Until many wait, or the period is over.
void ActivityQueue::AwaitWork() {
  LockGuard lock(mutex_);
  for (;;) {
    changed_period_ = false;
    const auto due = period_ms_ == 0 ? Condition::Time::max() : std::chrono::steady_clock::now() + std::chrono::milliseconds(period_ms_);
    while (waiting_.size() < kMany && !changed_period_) {
      if (!changed_.wait_until(mutex_, due)) return;
    }
    if (waiting_.size() >= kMany) return;
  }
}

void ActivityQueue::Run() {
  const OwnThread ours("rw-profile");
  for (;;) {
    AwaitWork();
    work_();
  }
}

}  // namespace ropeway
