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
  const CopyMethod method = traits.MethodFor(size);
  return {method, CopyMethodReason(method)};
}

// What counts is the sum: the pieces of a batch go through the cache one behind the other.
inline CopyPlan PlanBatch(size_t bytes, const Traits& traits) { return PlanCopy(bytes, traits); }

// Rows are a batch that needs no list.
inline CopyPlan PlanRows(size_t width, size_t height, const Traits& traits) { return PlanBatch(width * height, traits); }

// Setting is not shared: one thread is about as fast as memory takes it.
inline CopyPlan PlanSet(size_t size, const Traits& traits) {
  const CopyPlan plan = PlanCopy(size, traits);
  return plan.method == CopyMethod::kShared ? CopyPlan{CopyMethod::kStreaming, "large: stores around the cache"} : plan;
}

}  // namespace ropeway
