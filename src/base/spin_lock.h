// A lock for sections of a few dozen instructions without calls into the system. It yields when its holder seems to have
// lost the core, so that more threads than cores do not starve it.
#pragma once

#include <sched.h>

#include <atomic>

namespace ropeway {

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
 public:
  void lock() {
    if (!taken_.exchange(true, std::memory_order_acquire)) [[likely]]
      return;
    LockSlow();
  }
  bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline]] void LockSlow() {
    for (int spins = 0;; ++spins) {
      if (!taken_.load(std::memory_order_relaxed) && try_lock()) return;
      if (spins < 64) {
        CpuRelax();
      } else {
        sched_yield();
      }
    }
  }
  std::atomic<bool> taken_{false};
};

}  // namespace ropeway
