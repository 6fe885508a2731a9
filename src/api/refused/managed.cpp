// Managed memory (copy-and-memory.md 9.1): not there yet.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoManagedMemory =
    "memory with one address for host and device is not there yet; use aclrtMalloc and aclrtMallocHost with copies "
    "between them";

Status RequireDeviceOf(const aclrtMemManagedLocation& location) {
  if (location.type != ACL_MEM_LOCATIONTYPE_DEVICE) return Ok();
  return RequireRange(Layer::kRuntime, "location.id", location.id, 0, Runtime::VisibleCount() - 1);
}

Status RequireAttribute(aclrtMemManagedRangeAttribute attribute) {
  return RequireRange(Layer::kRuntime, "attribute", attribute, ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                      ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
}

// Entry k begins a run of ranges: the first at 0, each behind the one before, none past the end.
Status RequireRuns(const size_t* indexes, size_t runs, size_t count) {
  for (size_t k = 0; k < runs; ++k) {
    const bool in_order = k == 0 ? indexes[0] == 0 : indexes[k] > indexes[k - 1];
    if (!in_order || indexes[k] >= count)
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "prefetchLocIdxs[%zu] is %zu; the list begins with 0, grows, and stays below count %zu", k,
                  indexes[k], count);
  }
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequireRange(Layer::kOuter, "flag", flag, ACL_RT_MEM_ATTACH_GLOBAL, ACL_RT_MEM_ATTACH_GLOBAL));
    RW_TRY(RequireSome(Layer::kRuntime, "size", size));
    return NotSupported(kNoManagedMemory);
  });
}

aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireRange(Layer::kRuntime, "advise", advise, ACL_MEM_ADVISE_SET_READ_MOSTLY,
                        ACL_MEM_ADVISE_UNSET_ACCESSED_BY));
    if (advise != ACL_MEM_ADVISE_SET_READ_MOSTLY) RW_TRY(RequireDeviceOf(location));
    return NotSupported(kNoManagedMemory);
  });
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size, void* data,
                                size_t) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"data", data}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireAttribute(attribute));
    return NotSupported(kNoManagedMemory);
  });
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes, const void* ptr,
                                 size_t size, void** data, size_t* dataSizes) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"attributes", attributes}, {"ptr", ptr}, {"data", data}, {"dataSizes", dataSizes}}));
    RW_TRY(RequireSome(Layer::kOuter, "numAttributes", numAttributes));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    for (size_t i = 0; i < numAttributes; ++i) RW_TRY(RequireAttribute(attributes[i]));
    return NotSupported(kNoManagedMemory);
  });
}

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY(RequireDeviceOf(location));
    return NotSupported(kNoManagedMemory);
  });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, uint64_t flags, aclrtStream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers(
        {{"ptrs", ptrs}, {"sizes", sizes}, {"prefetchLocs", prefetchLocs}, {"prefetchLocIdxs", prefetchLocIdxs}}));
    RW_TRY(RequireSome(Layer::kOuter, "count", count));
    RW_TRY(RequireSome(Layer::kOuter, "numPrefetchLocs", numPrefetchLocs));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    if (count < numPrefetchLocs)
      return Reject(ACL_ERROR_INVALID_PARAM, "numPrefetchLocs %zu exceeds count %zu", numPrefetchLocs, count);
    RW_TRY(RequireRuns(prefetchLocIdxs, numPrefetchLocs, count));
    return NotSupported(kNoManagedMemory);
  });
}
