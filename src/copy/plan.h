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
  switch (traits.MethodFor(size)) {
    case CopyMethod::kCached: return {CopyMethod::kCached, "small: the destination is likely read soon"};
    case CopyMethod::kStreaming: return {CopyMethod::kStreaming, "large enough that stores around the cache win"};
    default: return {CopyMethod::kShared, "large enough to share with idle lanes"};
  }
}

// What counts is the sum: the pieces of a batch go through the cache one behind the other.
inline CopyPlan PlanBatch(size_t bytes, const Traits& traits) { return PlanCopy(bytes, traits); }

// Rows are moved one by one, so it is the row that decides.
inline CopyPlan PlanRows(size_t width, const Traits& traits) {
  const CopyPlan plan = PlanCopy(width, traits);
  return plan.method == CopyMethod::kShared ? CopyPlan{CopyMethod::kStreaming, "long rows: stores around the cache"} : plan;
}

inline CopyPlan PlanSet(size_t size, const Traits& traits) { return PlanRows(size, traits); }

}  // namespace ropeway
