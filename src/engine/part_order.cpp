#include "engine/part_order.h"

#include <atomic>
#include <numeric>
#include <random>

#include "base/config.h"

namespace ropeway {

PartOrder PartOrder::Dealt(size_t count, uint64_t dice) {
  std::mt19937_64 random(dice);
  size_t step = 1 + random() % count;
  while (std::gcd(step, count) != 1) step = 1 + step % count;
  return {count, random() % count, step};
}

PartOrder PartOrder::Of(size_t count) {
  static std::atomic<uint64_t> deals{0};
  if (count < 2) return AsGiven(count);
  switch (GetConfig().schedule) {
    case ScheduleKind::kLatest: return Reversed(count);
    case ScheduleKind::kRandom: return Dealt(count, GetConfig().schedule_seed + deals.fetch_add(1, std::memory_order_relaxed));
    default: return AsGiven(count);
  }
}

}  // namespace ropeway
