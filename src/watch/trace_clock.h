// The clock of traces: the processor's counter where it runs at one rate on all cores, else the system's clock. The file says by pairs of
// both what a tick is.
#pragma once

#include <cstdint>

#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ropeway {

inline bool TicksAreEven() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariant = 1u << 8;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

inline const bool g_ticks_are_even = TicksAreEven();

inline uint64_t TraceTicks() { return g_ticks_are_even ? Ticks() : static_cast<uint64_t>(NowNs()); }

}  // namespace ropeway
