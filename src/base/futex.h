// The kernel's wait-on-a-word, with an absolute deadline on our clock. Spurious returns are possible: callers loop.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/clock.h"

namespace ropeway {

inline void FutexWait(std::atomic<uint32_t>& word, uint32_t expected, Deadline deadline = Deadline::Never()) {
  timespec at{deadline.at_ns() / 1000000000, deadline.at_ns() % 1000000000};
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline.never() ? nullptr : &at, nullptr, FUTEX_BITSET_MATCH_ANY);
}

inline void FutexWake(std::atomic<uint32_t>& word, int count) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0); }

inline void FutexWakeAll(std::atomic<uint32_t>& word) { FutexWake(word, INT_MAX); }

}  // namespace ropeway
