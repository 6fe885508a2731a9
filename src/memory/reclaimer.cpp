#include "memory/reclaimer.h"

#include <chrono>
#include <exception>

#include "base/own_thread.h"

namespace ropeway {
namespace {

constexpr std::chrono::seconds kPause(1);

}  // namespace

void Reclaimer::WakeUp() noexcept try {
  LockGuard lock(mutex_);
  if (stop_) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  asked_.store(true, std::memory_order_relaxed);
  changed_.notify_one();
} catch (const std::exception&) {
  // No thread, or no memory for one: the next one who asks tries again.
}

void Reclaimer::Run() {
  const OwnThread self("rw-reclaim");
  LockGuard lock(mutex_);
  while (!stop_) {
    if (!asked_.load(std::memory_order_relaxed)) {
      changed_.wait(mutex_);
      continue;
    }
    if (changed_.wait_until(mutex_, std::chrono::steady_clock::now() + kPause, [this]() RW_REQUIRES(mutex_) { return stop_; })) return;
    // Whoever frees from here on asks again.
    asked_.store(false, std::memory_order_relaxed);
    lock.unlock();
    const bool more = reclaim_();
    lock.lock();
    if (more) asked_.store(true, std::memory_order_relaxed);
  }
}

void Reclaimer::Stop() {
  {
    LockGuard lock(mutex_);
    stop_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace ropeway
