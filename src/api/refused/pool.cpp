// Stream-ordered pools (copy-and-memory.md 9.2): not there yet.
#include <algorithm>

#include "acl/acl_rt_memory_soma.h"
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoPools =
    "memory pools are not there yet; use aclrtMalloc and aclrtFree, which do not wait for streams either";

Status RequirePoolProps(const aclrtMemPoolProps& props) {
  RW_TRY(RequireRange(Layer::kOuter, "poolProps->allocType", props.allocType, ACL_MEM_ALLOCATION_TYPE_PINNED,
                      ACL_MEM_ALLOCATION_TYPE_PINNED));
  RW_TRY(RequireRange(Layer::kOuter, "poolProps->location.type", props.location.type, ACL_MEM_LOCATION_TYPE_DEVICE,
                      ACL_MEM_LOCATION_TYPE_DEVICE));
  if (std::any_of(std::begin(props.reserved), std::end(props.reserved), [](uint8_t byte) { return byte != 0; }))
    return Reject(ACL_ERROR_INVALID_PARAM, "poolProps->reserved has bytes that are not 0; clear the structure first");
  return FindDevice("poolProps->location.id", props.location.id).status();
}

Status RequirePoolAttribute(aclrtMemPool memPool, aclrtMemPoolAttr attr, const void* value) {
  RW_TRY(RequirePointer("memPool", memPool));
  RW_TRY(RequireRuntimePointer("value", value));
  return RequireRange(Layer::kRuntime, "attr", attr, ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES,
                      ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"memPool", memPool}, {"poolProps", poolProps}}));
    RW_TRY(RequirePoolProps(*poolProps));
    return NotSupported(kNoPools);
  });
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) { return Refuse(__func__, kNoPools, {{"memPool", memPool}}); }

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePoolAttribute(memPool, attr, value));
    if (attr == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT || attr == ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "attr %d can only be read", static_cast<int>(attr));
    return NotSupported(kNoPools);
  });
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePoolAttribute(memPool, attr, value));
    return NotSupported(kNoPools);
  });
}

aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"memPool", memPool}, {"stream", stream}}));
    if (size == 0) return Ok();
    return NotSupported(kNoPools);
  });
}

aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream) { return Refuse(__func__, kNoPools, {{"ptr", ptr}}); }

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t) { return Refuse(__func__, kNoPools, {{"memPool", memPool}}); }
