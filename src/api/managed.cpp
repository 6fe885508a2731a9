// Managed memory (copy-and-memory.md 9.1). Advice and prefetches change what the attributes say; there is nothing to migrate,
// because host and device see one memory. A prefetch takes its place in the stream's order, and the attributes know of it
// as soon as the call has returned.
#include <sched.h>

#include <cstring>
#include <vector>

#include "api/checks.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGranularity = 2 * kMiB;

struct Range {
  const void* ptr;
  size_t size;
  uintptr_t base() const { return reinterpret_cast<uintptr_t>(ptr); }
};

Status RequireDeviceOf(const char* name, const aclrtMemManagedLocation& location) {
  if (location.type != ACL_MEM_LOCATIONTYPE_DEVICE) return Ok();
  return RequireRange(Layer::kRuntime, name, location.id, 0, Runtime::VisibleCount() - 1);
}

int32_t CurrentNumaNode() {
  unsigned node = 0;
  return getcpu(nullptr, &node) == 0 ? static_cast<int32_t>(node) : 0;
}

// `name` is that of the location, for the message.
Result<ManagedPlace> PlaceOf(const char* name, const aclrtMemManagedLocation& location) {
  RW_TRY(RequireDeviceOf(name, location));
  switch (location.type) {
    case ACL_MEM_LOCATIONTYPE_DEVICE:
      return ManagedPlace{ACL_MEM_LOCATIONTYPE_DEVICE, location.id};
    case ACL_MEM_LOCATIONTYPE_HOST:
      return ManagedPlace{ACL_MEM_LOCATIONTYPE_HOST, ManagedPlace::kHostId};
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA:
      if (location.id >= 0) return ManagedPlace{ACL_MEM_LOCATIONTYPE_HOST_NUMA, location.id};
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NUMA node %d, but nodes count from 0", name, location.id);
    case ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT:
      return ManagedPlace{ACL_MEM_LOCATIONTYPE_HOST_NUMA, CurrentNumaNode()};
    default:
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s has type %d, which is no place; use 1 (device) to 4 (current NUMA node)", name,
                  static_cast<int>(location.type));
  }
}

// The last check: the range lies in one managed block.
Status RequireManaged(const char* name, const Range& range) {
  Location location;
  RW_TRY(TheMemory().Locate(name, range.ptr, range.size, &location));
  if (location.place != Place::kManaged)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is %s; this call is for memory of aclrtMemAllocManaged", name, range.ptr,
                PlaceName(location.place));
  return Memory::RequireRoom(name, range.ptr, range.size, location);
}

Status RequireRangeArguments(const void* ptr, uint64_t size) {
  RW_TRY(RequirePointer("ptr", ptr));
  return RequireSome(Layer::kOuter, "size", size);
}

// --- Advice -------------------------------------------------------------------------------------------------------------

bool NeedsPlace(aclrtMemManagedAdviseType advise) {
  return advise == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION || advise == ACL_MEM_ADVISE_SET_ACCESSED_BY ||
         advise == ACL_MEM_ADVISE_UNSET_ACCESSED_BY;
}

void Apply(aclrtMemManagedAdviseType advise, const ManagedPlace& place, Advice& advice) {
  const int32_t who = place.type == ACL_MEM_LOCATIONTYPE_DEVICE ? place.id : ManagedPlace::kHostId;
  switch (advise) {
    case ACL_MEM_ADVISE_SET_READ_MOSTLY:
    case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
      advice.read_mostly = advise == ACL_MEM_ADVISE_SET_READ_MOSTLY;
      return;
    case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
      advice.preferred = place;
      return;
    case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      advice.preferred = ManagedPlace();
      return;
    case ACL_MEM_ADVISE_SET_ACCESSED_BY:
      advice.accessed_by.insert(who);
      return;
    case ACL_MEM_ADVISE_UNSET_ACCESSED_BY:
      advice.accessed_by.erase(who);
      return;
  }
}

// --- Attributes ---------------------------------------------------------------------------------------------------------

Status RequireAttribute(aclrtMemManagedRangeAttribute attribute, size_t dataSize) {
  RW_TRY(RequireRange(Layer::kRuntime, "attribute", attribute, ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                      ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID));
  const bool list = attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  const bool fits = list ? dataSize != 0 && dataSize % sizeof(int32_t) == 0 : dataSize == sizeof(int32_t);
  if (fits) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "the data size %zu of attribute %d must be %s", dataSize, static_cast<int>(attribute),
              list ? "a multiple of 4, and not 0" : "4");
}

int32_t ValueOf(aclrtMemManagedRangeAttribute attribute, const Advice& advice) {
  switch (attribute) {
    case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return advice.read_mostly ? 1 : 0;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return advice.preferred.id;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return advice.preferred.type;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return advice.prefetched.type;
    default:
      return advice.prefetched.id;
  }
}

void Report(aclrtMemManagedRangeAttribute attribute, const Advice& advice, void* data, size_t dataSize) {
  std::vector<int32_t> values(dataSize / sizeof(int32_t), ManagedPlace::kNoId);
  if (attribute != ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    values[0] = ValueOf(attribute, advice);
  } else {
    auto who = advice.accessed_by.begin();
    for (size_t i = 0; i < values.size() && who != advice.accessed_by.end(); ++i) values[i] = *who++;
  }
  std::memcpy(data, values.data(), dataSize);
}

Result<Advice> ReadAdvice(const Range& range) {
  RW_TRY(CurrentContext().status());
  RW_TRY(RequireManaged("ptr", range));
  return TheMemory().managed()->advice().Read(range.base(), range.size);
}

// --- Prefetches ---------------------------------------------------------------------------------------------------------

struct Prefetch {
  Range range;
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
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "prefetchLocIdxs[%zu] is %zu; the list begins with 0, grows, and stays below count %zu", k,
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

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequireRange(Layer::kOuter, "flag", flag, ACL_RT_MEM_ATTACH_GLOBAL, ACL_RT_MEM_ATTACH_GLOBAL));
    RW_TRY(RequireSome(Layer::kRuntime, "size", size));
    RW_TRY_SET(Context * context, CurrentContext());
    ManagedSpace* space = TheMemory().OpenManaged();
    if (space == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the process has no addresses for managed memory (ulimit -v)");
    std::optional<void*> block;
    if (size <= ManagedSpace::kUsualSize) {
      HeapRequest request;
      request.reserved = (size + kGranularity - 1) / kGranularity * kGranularity;
      request.page_size = kGranularity;
      request.call = "aclrtMemAllocManaged";
      request.caller = caller;
      block = space->Allocate(context->device(), request);
    }
    if (!block) {
      const Heap::Usage usage = space->usage(context->device());
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "size %llu does not fit: device %d has %zu of %zu bytes of managed addresses left",
                  static_cast<unsigned long long>(size), Runtime::UserIdOf(context->device()), usage.capacity - usage.bytes,
                  usage.capacity);
    }
    *ptr = *block;
    return Ok();
  });
}

aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRangeArguments(ptr, size));
    RW_TRY(RequireRange(Layer::kRuntime, "advise", advise, ACL_MEM_ADVISE_SET_READ_MOSTLY,
                        ACL_MEM_ADVISE_UNSET_ACCESSED_BY));
    if (advise != ACL_MEM_ADVISE_SET_READ_MOSTLY) RW_TRY(RequireDeviceOf("location", location));
    ManagedPlace place;
    if (NeedsPlace(advise)) {
      RW_TRY_SET(place, PlaceOf("location", location));
    }
    RW_TRY(CurrentContext().status());
    SyncOperation in_progress;
    const Range range{ptr, size};
    RW_TRY(RequireManaged("ptr", range));
    TheMemory().managed()->advice().Change(range.base(), size, [&](Advice& part) { Apply(advise, place, part); });
    return Ok();
  });
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size, void* data,
                                size_t dataSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"data", data}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireAttribute(attribute, dataSize));
    RW_TRY_SET(const Advice advice, ReadAdvice({ptr, size}));
    Report(attribute, advice, data, dataSize);
    return Ok();
  });
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes, const void* ptr,
                                 size_t size, void** data, size_t* dataSizes) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"attributes", attributes}, {"ptr", ptr}, {"data", data}, {"dataSizes", dataSizes}}));
    RW_TRY(RequireSome(Layer::kOuter, "numAttributes", numAttributes));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    for (size_t i = 0; i < numAttributes; ++i) RW_TRY(RequirePointer("an entry of data", data[i]));
    for (size_t i = 0; i < numAttributes; ++i) RW_TRY(RequireAttribute(attributes[i], dataSizes[i]));
    RW_TRY_SET(const Advice advice, ReadAdvice({ptr, size}));
    for (size_t i = 0; i < numAttributes; ++i) Report(attributes[i], advice, data[i], dataSizes[i]);
    return Ok();
  });
}

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequireRangeArguments(ptr, size));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY_SET(ManagedPlace place, PlaceOf("location", location));
    return QueuePrefetches({{{ptr, size}, place}}, found, call);
  });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointers(
        {{"ptrs", ptrs}, {"sizes", sizes}, {"prefetchLocs", prefetchLocs}, {"prefetchLocIdxs", prefetchLocIdxs}}));
    RW_TRY(RequireSome(Layer::kOuter, "count", count));
    RW_TRY(RequireSome(Layer::kOuter, "numPrefetchLocs", numPrefetchLocs));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    if (count < numPrefetchLocs)
      return Reject(ACL_ERROR_INVALID_PARAM, "numPrefetchLocs %zu exceeds count %zu", numPrefetchLocs, count);
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
