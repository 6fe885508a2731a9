#include "base/clock.h"

#include <algorithm>

namespace ropeway {

uint64_t TicksPerMicrosecond() {
  // 200 us are enough for the few percent of accuracy that spending decisions need.
  static const uint64_t rate = [] {
    const int64_t start_ns = NowNs();
    const uint64_t start = Ticks();
    while (NowNs() - start_ns < 200000) {
    }
    const uint64_t elapsed_us = static_cast<uint64_t>(NowNs() - start_ns) / 1000;
    return std::max<uint64_t>(1, (Ticks() - start) / elapsed_us);
  }();
  return rate;
}

}  // namespace ropeway
