// Gives freed memory back to the system when nobody calls: a block that was freed while work still used it would otherwise stay resident
// until the next allocation. A thread looks a second after it was asked to, and once a second as long as something is left; it sleeps
// otherwise, and is started by the first who asks. Where there is no thread to be had, the next allocation does it.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace ropeway {

class Reclaimer {
 public:
  // `reclaim` takes back what it can, and says whether something is left.
  explicit Reclaimer(std::function<bool()> reclaim) : reclaim_(std::move(reclaim)) {}
  ~Reclaimer() { Stop(); }

  // Never throws, and costs a load when somebody asked before.
  void AskForIt() noexcept {
    if (!asked_.load(std::memory_order_relaxed)) WakeUp();
  }
  void Stop();

 private:
  [[gnu::cold]] void WakeUp() noexcept;
  void Run();

  const std::function<bool()> reclaim_;
  std::atomic<bool> asked_{false};
  Mutex mutex_{LockRank::kReclaimer};  // guards also the way of asked_ to true
  Condition changed_;
  bool stop_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ropeway
