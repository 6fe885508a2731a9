// Prefetches of managed memory (rules/managed.md). There is nothing to migrate: a prefetch takes its place in the stream's
// order, and the attributes know of it as soon as the call has returned.
#include <vector>

#include "api/checks.h"
#include "api/managed_range.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

struct Prefetch {
  ManagedRange range;
  ManagedPlace to;
};

// All of them are one task, which has nothing to move and keeps its place in the order.
Status QueuePrefetches(const std::vector<Prefetch>& prefetches, StreamRef found, const char* call) {
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef target = OrDefault(found, *context);
  RW_TRY(target.stream->RequireContext(&context->scope()));
  SyncOperation in_progress;
  for (const Prefetch& prefetch : prefetches) RW_TRY(RequireManaged("ptr", prefetch.range));
  Task task{};
  task.kind = TaskKind::kNothing;
  task.call = call;
  RW_TRY(Submit(target, *context, task));
  ManagedAdvice& advice = TheMemory().managed()->advice();
  for (const Prefetch& prefetch : prefetches)
    advice.Change(prefetch.range.base(), prefetch.range.size, [&](Advice& part) { part.prefetched = prefetch.to; });
  return Ok();
}

// Entry k begins a run of ranges: the first at 0, each behind the one before, none past the end.
Status RequireRuns(const size_t* indexes, size_t runs, size_t count) {
  for (size_t k = 0; k < runs; ++k) {
    const bool in_order = k == 0 ? indexes[0] == 0 : indexes[k] > indexes[k - 1];
    if (!in_order || indexes[k] >= count)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "prefetchLocIdxs[%zu] is %zu; the list begins with 0, grows, and stays below count %zu", k,
                  indexes[k], count);
  }
  return Ok();
}

// The ranges of [begin, end), all to one place.
Status CollectRun(const void** ptrs, const size_t* sizes, size_t begin, size_t end, const ManagedPlace& to,
                  std::vector<Prefetch>* prefetches) {
  for (size_t i = begin; i < end; ++i) {
    if (ptrs[i] == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptrs[%zu] is NULL", i);
    if (sizes[i] == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "sizes[%zu] is 0, and there is nothing to do", i);
    prefetches->push_back({{ptrs[i], sizes[i]}, to});
  }
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY_SET(ManagedPlace place, PlaceOf("location", location));
    return QueuePrefetches({{{ptr, size}, place}}, found, call);
  });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count, aclrtMemManagedLocation* prefetchLocs,
                                           size_t* prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptrs", ptrs}, {"sizes", sizes}, {"prefetchLocs", prefetchLocs}, {"prefetchLocIdxs", prefetchLocIdxs}}));
    RW_TRY(RequireSome(Layer::kOuter, "count", count));
    RW_TRY(RequireSome(Layer::kOuter, "numPrefetchLocs", numPrefetchLocs));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    if (count < numPrefetchLocs) return Reject(ACL_ERROR_INVALID_PARAM, "numPrefetchLocs %zu exceeds count %zu", numPrefetchLocs, count);
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY(RequireRuns(prefetchLocIdxs, numPrefetchLocs, count));
    std::vector<Prefetch> prefetches;
    for (size_t k = 0; k < numPrefetchLocs; ++k) {
      const size_t end = k + 1 < numPrefetchLocs ? prefetchLocIdxs[k + 1] : count;
      RW_TRY_SET(ManagedPlace place, PlaceOf("an entry of prefetchLocs", prefetchLocs[k]));
      RW_TRY(CollectRun(ptrs, sizes, prefetchLocIdxs[k], end, place, &prefetches));
    }
    return QueuePrefetches(prefetches, found, call);
  });
}
