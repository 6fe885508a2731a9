// Allocators that a program offers per stream (rules/pools.md 3). Bookkeeping only: they are stored and handed
// out for code that executes operators, and never called from here. Streams are keys by value and are not looked up.
#include <unordered_map>

#include "api/entry.h"
#include "base/mutex.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

struct Description {
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc alloc = nullptr;
  aclrtAllocatorFreeFunc free = nullptr;
  aclrtAllocatorAllocAdviseFunc alloc_advise = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc get_addr_from_block = nullptr;
  bool registered = false;  // the copy that belongs to a stream: it goes when the registration goes
};

// A handle is a number that is never used again, so a stale one is noticed.
struct Registry {
  Mutex mutex{LockRank::kAllocators};
  uintptr_t last_number RW_GUARDED_BY(mutex) = uintptr_t{0x24} << 56;
  std::unordered_map<aclrtAllocatorDesc, Description> descriptions RW_GUARDED_BY(mutex);
  std::unordered_map<aclrtStream, aclrtAllocatorDesc> by_stream RW_GUARDED_BY(mutex);

  aclrtAllocatorDesc Add(const Description& description) RW_REQUIRES(mutex) {
    auto* handle = reinterpret_cast<aclrtAllocatorDesc>(++last_number);
    descriptions.emplace(handle, description);
    return handle;
  }
};

// Never destroyed: calls come from static destructors, too.
Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

// The result is good as long as the mutex is held.
Result<Description*> FindDescription(Registry& registry, aclrtAllocatorDesc handle) RW_REQUIRES(registry.mutex) {
  auto found = registry.descriptions.find(handle);
  if (found != registry.descriptions.end()) return &found->second;
  return Reject(ACL_ERROR_INVALID_PARAM, "allocatorDesc %p is not a live allocator description", handle);
}

template <typename Field, typename Value>
Status SetField(aclrtAllocatorDesc handle, Field Description::*field, const char* name, Value value) {
  RW_TRY(RequirePointer("allocatorDesc", handle));
  if (value == nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "%s is NULL", name);
  LockGuard lock(TheRegistry().mutex);
  RW_TRY_SET(Description * description, FindDescription(TheRegistry(), handle));
  description->*field = value;
  return Ok();
}

Status RequireComplete(const Description& description) {
  const char* missing = description.object == nullptr                ? "object"
                        : description.alloc == nullptr               ? "alloc function"
                        : description.free == nullptr                ? "free function"
                        : description.get_addr_from_block == nullptr ? "get-address function"
                                                                     : nullptr;
  if (missing == nullptr) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "allocatorDesc has no %s; set it before registering", missing);
}

void Forget(Registry& registry, aclrtStream stream) RW_REQUIRES(registry.mutex) {
  auto found = registry.by_stream.find(stream);
  if (found == registry.by_stream.end()) return;
  registry.descriptions.erase(found->second);
  registry.by_stream.erase(found);
}

template <typename T>
void Store(T* output, T value) {
  if (output != nullptr) *output = value;
}

}  // namespace
}  // namespace ropeway::api

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) {
  aclrtAllocatorDesc handle = nullptr;
  Entry(__func__, [&]() -> Status {
    LockGuard lock(TheRegistry().mutex);
    handle = TheRegistry().Add(Description());
    return Ok();
  });
  return handle;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("allocatorDesc", allocatorDesc));
    LockGuard lock(TheRegistry().mutex);
    RW_TRY_SET(Description * description, FindDescription(TheRegistry(), allocatorDesc));
    if (description->registered)
      return Reject(ACL_ERROR_INVALID_PARAM, "allocatorDesc %p belongs to a registration, which aclrtAllocatorUnregister ends",
                    allocatorDesc);
    TheRegistry().descriptions.erase(allocatorDesc);
    return Ok();
  });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return Entry(__func__, [&] { return SetField(allocatorDesc, &Description::object, "allocator", allocator); });
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func) {
  return Entry(__func__, [&] { return SetField(allocatorDesc, &Description::alloc, "func", func); });
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func) {
  return Entry(__func__, [&] { return SetField(allocatorDesc, &Description::free, "func", func); });
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func) {
  return Entry(__func__, [&] { return SetField(allocatorDesc, &Description::alloc_advise, "func", func); });
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorGetAddrFromBlockFunc func) {
  return Entry(__func__, [&] { return SetField(allocatorDesc, &Description::get_addr_from_block, "func", func); });
}

// Stores a copy: what the program does to its description afterwards changes nothing here.
aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("allocatorDesc", allocatorDesc));
    Registry& registry = TheRegistry();
    LockGuard lock(registry.mutex);
    RW_TRY_SET(Description * description, FindDescription(registry, allocatorDesc));
    RW_TRY(RequireComplete(*description));
    Description copy = *description;
    copy.registered = true;
    aclrtAllocatorDesc handle = registry.Add(copy);
    Forget(registry, stream);
    registry.by_stream[stream] = handle;
    return Ok();
  });
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* allocatorDesc, aclrtAllocator* allocator,
                                   aclrtAllocatorAllocFunc* allocFunc, aclrtAllocatorFreeFunc* freeFunc,
                                   aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("allocatorDesc", allocatorDesc));
    LockGuard lock(TheRegistry().mutex);
    auto found = TheRegistry().by_stream.find(stream);
    if (found == TheRegistry().by_stream.end())
      return Reject(ACL_ERROR_INVALID_PARAM, "stream %p has no allocator; call aclrtAllocatorRegister first", stream);
    RW_TRY_SET(Description * description, FindDescription(TheRegistry(), found->second));
    *allocatorDesc = found->second;
    Store(allocator, description->object);
    Store(allocFunc, description->alloc);
    Store(freeFunc, description->free);
    Store(allocAdviseFunc, description->alloc_advise);
    Store(getAddrFromBlockFunc, description->get_addr_from_block);
    return Ok();
  });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    LockGuard lock(TheRegistry().mutex);
    Forget(TheRegistry(), stream);
    return Ok();
  });
}
