// Batches: one operation with many ranges, and no order among its items.
#include <algorithm>

#include "check/call.h"

using namespace ropeway::check;

namespace {

struct Items {
  void** dsts;
  void** srcs;
  const size_t* sizes;
  size_t count;
};

std::vector<Access> AccessesOf(const Items& items) {
  std::vector<Access> accesses;
  if (items.dsts == nullptr || items.srcs == nullptr) return accesses;  // all sizes were 0
  accesses.reserve(2 * items.count);
  for (size_t i = 0; i < items.count; ++i) {
    accesses.push_back({RangeOf(items.srcs[i], items.sizes[i]), false});
    accesses.push_back({RangeOf(items.dsts[i], items.sizes[i]), true});
  }
  return accesses;
}

// One without looks at nothing else, not even at the thread's context.
bool AnyBytes(const size_t* sizes, size_t count) {
  return sizes != nullptr && std::any_of(sizes, sizes + count, [](size_t size) { return size != 0; });
}

// Sorted by address, whatever overlaps overlaps a neighbour in front of it.
bool DestinationsOverlap(std::vector<Access> accesses) {
  const auto begins_before = [](const Access& one, const Access& other) { return one.range.begin < other.range.begin; };
  std::sort(accesses.begin(), accesses.end(), begins_before);
  uintptr_t read_to = 0, written_to = 0;
  for (const Access& access : accesses) {
    if (access.range.empty()) continue;
    if (access.range.begin < written_to || (access.write && access.range.begin < read_to)) return true;
    uintptr_t& reached = access.write ? written_to : read_to;
    reached = std::max(reached, access.range.end);
  }
  return false;
}

void JudgeItems(Books& books, uint32_t operation, const std::vector<Access>& accesses) {
  for (const Access& access : accesses)
    if (access.write) books.CopiedInto(reinterpret_cast<void*>(access.range.begin), access.range.end - access.range.begin);
  if (DestinationsOverlap(accesses))
    books.Tell(Rule::kBatchOverlap, operation, "has " + std::to_string(accesses.size() / 2) + " items, and one writes what another uses");
}

void KeepBatch(Books& books, uint32_t operation, const Items& items, StreamIndex index) {
  const std::vector<Access> accesses = AccessesOf(items);
  JudgeItems(books, operation, accesses);
  const bool pageable = std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    return books.BlockAt(reinterpret_cast<void*>(access.range.begin)) == nullptr;
  });
  const Place place = books.Queue(index, operation, accesses);
  if (!pageable) return;
  books.model.Finish(place);
  books.Tell(Rule::kTipPageable, operation, "has items in pageable memory: the call waited for its stream and copied");
}

void KeepAtOnce(Books& books, uint32_t operation, const Items& items) {
  const std::vector<Access> accesses = AccessesOf(items);
  JudgeItems(books, operation, accesses);
  for (const Access& access : accesses) books.HostUse(Rule::kHostPasses, access.range, access.write, operation);
}

}  // namespace

#define RW_ARRAYS                                                                                                                  \
  void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, \
      size_t numAttrs
#define RW_PASS                                                                                                                           \
  call.List(dsts, sizes, numBatches).data(), destMaxs, call.List(srcs, sizes, numBatches).data(), sizes, numBatches, attrs, attrsIndexes, \
      numAttrs
RW_KEPT(aclrtMemcpyBatch, (RW_ARRAYS, size_t* failIndex), (RW_PASS, failIndex),
        KeepAtOnce(books, operation, {dsts, srcs, sizes, numBatches}))
RW_KEPT(aclrtMemcpyBatchV2, (RW_ARRAYS), (RW_PASS), KeepAtOnce(books, operation, {dsts, srcs, sizes, numBatches}))
RW_QUEUED_IF(AnyBytes(sizes, numBatches), aclError, aclrtMemcpyBatchAsync, (RW_ARRAYS, size_t* failIndex, aclrtStream stream),
             (RW_PASS, failIndex, stream), KeepBatch(books, operation, {dsts, srcs, sizes, numBatches}, index))
RW_QUEUED_IF(AnyBytes(sizes, numBatches), aclError, aclrtMemcpyBatchAsyncV2, (RW_ARRAYS, aclrtStream stream), (RW_PASS, stream),
             KeepBatch(books, operation, {dsts, srcs, sizes, numBatches}, index))
