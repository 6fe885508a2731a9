// One clock for timestamps, deadlines and traces.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ropeway {

inline int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

// A point in time up to which a caller is willing to wait.
class Deadline {
 public:
  Deadline() = default;  // never
  static Deadline Never() { return Deadline(); }
  static Deadline AfterMs(int64_t ms) { return ms < 0 ? Never() : Deadline(NowNs() + ms * 1000000); }
  static Deadline AfterNs(int64_t ns) { return Deadline(NowNs() + ns); }
  static Deadline After(std::chrono::nanoseconds span) { return AfterNs(span.count()); }
  bool never() const { return at_ns_ == INT64_MAX; }
  bool Passed() const { return !never() && NowNs() >= at_ns_; }
  int64_t at_ns() const { return at_ns_; }
  // For those who sleep; max() when never.
  std::chrono::steady_clock::time_point at() const { return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at_ns_)); }

 private:
  explicit Deadline(int64_t at_ns) : at_ns_(at_ns) {}
  int64_t at_ns_ = INT64_MAX;
};

// A cheap counter that grows at a constant rate, for adding up short spans. TicksPerMicrosecond is measured once.
inline uint64_t Ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<uint64_t>(NowNs());
#endif
}
uint64_t TicksPerMicrosecond();

}  // namespace ropeway
