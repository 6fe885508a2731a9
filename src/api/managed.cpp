// Managed memory (rules/managed.md): allocation, advice, attributes. Advice changes what the attributes say and nothing
// else, because host and device see one memory.
#include <cstring>
#include <vector>

#include "api/checks.h"
#include "api/managed_range.h"
#include "base/bytes.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kGranularity = 2 * kMiB;

// --- Advice -------------------------------------------------------------------------------------------------------------

bool NeedsPlace(aclrtMemManagedAdviseType advise) {
  return advise == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION || advise == ACL_MEM_ADVISE_SET_ACCESSED_BY ||
         advise == ACL_MEM_ADVISE_UNSET_ACCESSED_BY;
}

void Apply(aclrtMemManagedAdviseType advise, const ManagedPlace& place, Advice& advice) {
  const int32_t who = place.type == ACL_MEM_LOCATIONTYPE_DEVICE ? place.id : ManagedPlace::kHostId;
  switch (advise) {
    case ACL_MEM_ADVISE_SET_READ_MOSTLY:
    case ACL_MEM_ADVISE_UNSET_READ_MOSTLY: advice.read_mostly = advise == ACL_MEM_ADVISE_SET_READ_MOSTLY; return;
    case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION: advice.preferred = place; return;
    case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION: advice.preferred = ManagedPlace(); return;
    case ACL_MEM_ADVISE_SET_ACCESSED_BY: advice.accessed_by.insert(who); return;
    case ACL_MEM_ADVISE_UNSET_ACCESSED_BY: advice.accessed_by.erase(who); return;
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
    case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: return advice.read_mostly ? 1 : 0;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return advice.preferred.id;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: return advice.preferred.type;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: return advice.prefetched.type;
    default: return advice.prefetched.id;
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

Result<Advice> ReadAdvice(const ManagedRange& range) {
  RW_TRY(CurrentContext().status());
  RW_TRY(RequireManaged("ptr", range));
  return TheMemory().managed()->advice().Read(range.base(), range.size);
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
    RW_TRY(MemoryFault("aclrtMemAllocManaged", context->device(), size));
    ManagedSpace* space = TheMemory().OpenManaged();
    if (space == nullptr)
      return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the process has no addresses left for managed memory; raise ulimit -v");
    std::optional<void*> block;
    if (size <= ManagedSpace::kUsualSize) {
      HeapRequest request;
      request.reserved = (size + kGranularity - 1) / kGranularity * kGranularity;
      request.page_size = kGranularity;
      request.call = "aclrtMemAllocManaged";
      request.caller = ProgramCaller(caller);
      block = space->Allocate(context->device(), request);
    }
    if (!block) {
      const Heap::Usage usage = space->usage(context->device());
      return Fail(
          ACL_ERROR_RT_MEMORY_ALLOCATION, "size %llu does not fit: device %d has %zu of %zu bytes of managed addresses left; free some",
          static_cast<unsigned long long>(size), Runtime::UserIdOf(context->device()), usage.capacity - usage.bytes, usage.capacity);
    }
    *ptr = *block;
    return Ok();
  });
}

aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size, aclrtMemManagedAdviseType advise, aclrtMemManagedLocation location) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireRange(Layer::kRuntime, "advise", advise, ACL_MEM_ADVISE_SET_READ_MOSTLY, ACL_MEM_ADVISE_UNSET_ACCESSED_BY));
    if (advise != ACL_MEM_ADVISE_SET_READ_MOSTLY) RW_TRY(RequireDeviceOf("location", location));
    ManagedPlace place;
    if (NeedsPlace(advise)) {
      RW_TRY_SET(place, PlaceOf("location", location));
    }
    RW_TRY(CurrentContext().status());
    SyncOperation in_progress;
    const ManagedRange range{ptr, size};
    RW_TRY(RequireManaged("ptr", range));
    TheMemory().managed()->advice().Change(range.base(), size, [&](Advice& part) { Apply(advise, place, part); });
    return Ok();
  });
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size, void* data, size_t dataSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"data", data}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireAttribute(attribute, dataSize));
    RW_TRY_SET(const Advice advice, ReadAdvice({ptr, size}));
    Report(attribute, advice, data, dataSize);
    return Ok();
  });
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes, const void* ptr, size_t size, void** data,
                                 size_t* dataSizes) {
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
