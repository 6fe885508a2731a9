// A lock for sections of a few dozen instructions without calls into the system. It yields when its holder seems to have
// lost the core, so that more threads than cores do not starve it.
#pragma once

#include <sched.h>

#include <atomic>

#include "base/mutex.h"

namespace ropeway {

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// For those who wait for a moment, in round after round.
inline void RelaxOrYield(int round) {
  if (round < 64) {
    CpuRelax();
  } else {
    sched_yield();
  }
}

class RW_CAPABILITY SpinLock : RankedLock {
 public:
  constexpr explicit SpinLock(LockRank rank) : RankedLock(rank) {}
  void lock() RW_ACQUIRE() {
    Taking();
    if (Take()) [[likely]]
      return;
    LockSlow();
  }
  void unlock() RW_RELEASE() {
    Left();
    taken_.store(false, std::memory_order_release);
  }

 private:
  bool Take() { return !taken_.exchange(true, std::memory_order_acquire); }
  [[gnu::noinline]] void LockSlow() {
    for (int spins = 0;; ++spins) {
      if (!taken_.load(std::memory_order_relaxed) && Take()) return;
      RelaxOrYield(spins);
    }
  }
  std::atomic<bool> taken_{false};
};

}  // namespace ropeway
