// Virtual memory: addresses, mappings and who may use them (rules/virtual-memory.md 1).
#include "api/checks.h"
#include "api/virtual_memory_checks.h"
#include "base/bytes.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {

Result<VirtualMemory*> TheVirtualMemory() {
  RW_TRY(Runtime::BringUp(0).status());
  return &TheMemory().virtual_memory();
}

namespace {

Status RequireReserveArguments(void** virPtr, size_t size, size_t alignment, uint64_t flags) {
  RW_TRY(RequirePointer("virPtr", virPtr));
  RW_TRY(RequireSome(Layer::kOuter, "size", size));
  RW_TRY(RequireRange(Layer::kOuter, "flags", static_cast<int64_t>(flags), 0, 1));
  return RequireZero(Layer::kRuntime, "alignment", alignment);
}

Status Reserve(void** virPtr, size_t size, void* expectPtr) {
  if (expectPtr != nullptr && !ThisProduct().reserves_at)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "expectPtr %p: addresses cannot be chosen on this product; pass NULL", expectPtr);
  RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
  return memory->Reserve(size, expectPtr, virPtr);
}

struct MapArguments {
  void* virPtr;
  size_t size;
  size_t offset;
  aclrtDrvMemHandle handle;
  uint64_t flags;
};

Status Map(const MapArguments& arguments, bool accessible, const char* call, const void* caller) {
  RW_TRY(RequirePointers({{"virPtr", arguments.virPtr}, {"handle", arguments.handle}}));
  RW_TRY(RequireSome(Layer::kOuter, "size", arguments.size));
  RW_TRY(RequireZero(Layer::kOuter, "flags", arguments.flags));
  RW_TRY(RequireZero(Layer::kRuntime, "offset", arguments.offset));
  RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
  return memory->Map({reinterpret_cast<uintptr_t>(arguments.virPtr), arguments.size, accessible, call, caller}, arguments.handle);
}

Result<Access> AccessOf(const aclrtMemLocation& location) {
  if (location.type == ACL_MEM_LOCATION_TYPE_HOST) return Access::Of(-1);
  if (location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "location.type %d is neither HOST (0) nor DEVICE (1)", static_cast<int>(location.type));
  RW_TRY_SET(int device, FindDevice("location.id", location.id));
  return Access::Of(device);
}

Result<Access> CollectAccess(const aclrtMemAccessDesc* desc, size_t count) {
  Access all;
  for (size_t i = 0; i < count; ++i) {
    if (desc[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "desc[%zu].flags %d is not READWRITE (3), the only access that can be given", i,
                  static_cast<int>(desc[i].flags));
    RW_TRY_SET(Access one, AccessOf(desc[i].location));
    all.devices |= one.devices;
    all.host = all.host || one.host;
  }
  return all;
}

}  // namespace
}  // namespace ropeway::api

#define RW_CALLER __builtin_return_address(0)

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireReserveArguments(virPtr, size, alignment, flags));
    return Reserve(virPtr, size, expectPtr);
  });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireReserveArguments(virPtr, size, alignment, flags));
    RW_TRY(RequireRuntimePointer("expectPtr", expectPtr));
    RW_TRY(RequireZero(Layer::kRuntime, "size modulo 1 GiB", size % kGiB));
    return Reserve(virPtr, size, expectPtr);
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("virPtr", virPtr));
    RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
    return memory->Release(virPtr);
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] { return Map({virPtr, size, offset, handle, flags}, true, "aclrtMapMem", caller); });
}

aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] { return Map({virPtr, size, offset, handle, flags}, false, "aclrtMemMapNoAccess", caller); });
}

aclError aclrtUnmapMem(void* virPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("virPtr", virPtr));
    RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
    return memory->Unmap(virPtr);
  });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("virPtr", virPtr));
    RW_TRY(RequireRuntimePointer("desc", desc));
    RW_TRY(RequireSome(Layer::kRuntime, "count", count));
    RW_TRY_SET(Access access, CollectAccess(desc, count));
    RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
    return memory->AddAccess(virPtr, size, access);
  });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"virPtr", virPtr}, {"location", location}, {"flag", flag}}));
    RW_TRY_SET(Access asked, AccessOf(*location));
    RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
    Access given;
    RW_TRY(memory->GetAccess(virPtr, &given));
    *flag = given.Covers(asked) ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    return Ok();
  });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"virPtr", virPtr}, {"handle", handle}}));
    RW_TRY_SET(VirtualMemory * memory, TheVirtualMemory());
    return memory->Retain(virPtr, handle);
  });
}
