// How bytes will move. Pure functions of the request and the engine's traits, so tests are tables; the reason is what a
// trace and `ropeway bench --explain` print.
#pragma once

#include "engine/engine.h"

namespace ropeway {

struct CopyPlan {
  CopyMethod method;
  const char* why;
};

inline CopyPlan PlanCopy(size_t size, const Traits& traits) {
  if (size < traits.streaming_from) return {CopyMethod::kCached, "small: the destination is likely read soon"};
  if (size < traits.share_from) return {CopyMethod::kStreaming, "large enough that stores around the cache win"};
  return {CopyMethod::kShared, "large enough to share with idle lanes"};
}

// Rows are moved one by one, so it is the row that decides.
inline CopyPlan PlanRows(size_t width, const Traits& traits) {
  const CopyPlan plan = PlanCopy(width, traits);
  return plan.method == CopyMethod::kShared ? CopyPlan{CopyMethod::kStreaming, "long rows: stores around the cache"} : plan;
}

inline CopyPlan PlanSet(size_t size, const Traits& traits) { return PlanRows(size, traits); }

}  // namespace ropeway
