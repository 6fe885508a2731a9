// Stream-ordered memory pools (rules/pools.md 1, 2).
#include "memory/pool.h"

#include <algorithm>
#include <iterator>

#include "acl/acl_rt_memory_soma.h"
#include "api/checks.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status RequirePoolProps(const aclrtMemPoolProps& props) {
  RW_TRY(
      RequireRange(Layer::kOuter, "poolProps->allocType", props.allocType, ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_MEM_ALLOCATION_TYPE_PINNED));
  RW_TRY(RequireRange(Layer::kOuter, "poolProps->location.type", props.location.type, ACL_MEM_LOCATION_TYPE_DEVICE,
                      ACL_MEM_LOCATION_TYPE_DEVICE));
  if (std::any_of(std::begin(props.reserved), std::end(props.reserved), [](uint8_t byte) { return byte != 0; }))
    return Reject(ACL_ERROR_INVALID_PARAM, "poolProps->reserved has bytes that are not 0; clear the structure first");
  return Ok();
}

bool RoundUp(size_t size, size_t* rounded) {
  if (size > SIZE_MAX - Pool::kGranularity) return false;
  *rounded = (size + Pool::kGranularity - 1) / Pool::kGranularity * Pool::kGranularity;
  return true;
}

// What the pool may hold at most: 0 asks for the whole device.
Result<size_t> MaxSizeOf(size_t given, size_t capacity) {
  if (given == 0) return capacity / Pool::kGranularity * Pool::kGranularity;
  size_t rounded = 0;
  if (RoundUp(given, &rounded) && rounded <= capacity) return rounded;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "poolProps->maxSize %zu exceeds the %zu bytes of the device (ROPEWAY_DEVICE_MEMORY)", given,
              capacity);
}

// Unknown pools have different codes in different calls.
Result<PoolHold> HoldPool(aclrtMemPool memPool, int code) {
  PoolHold pool(Pools(), Pools().Acquire(memPool));
  if (pool) return pool;
  return Fail(code, "memPool %p is not a live pool (destroyed, gone with its device, or not a pool at all)", memPool);
}

Result<PoolHold> HoldForAttribute(aclrtMemPool memPool, aclrtMemPoolAttr attr, const void* value) {
  RW_TRY(RequirePointer("memPool", memPool));
  RW_TRY(RequireRuntimePointer("value", value));
  RW_TRY(CurrentContext().status());
  RW_TRY_SET(PoolHold pool, HoldPool(memPool, ACL_ERROR_RT_PARAM_INVALID));
  RW_TRY(RequireRange(Layer::kRuntime, "attr", attr, ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH));
  return pool;
}

// A graph would repeat what can happen only once.
Status RequireOwnUncapturedStream(StreamRef stream, Context& context) {
  RW_TRY(stream.stream->RequireContext(&context.scope()));
  if (!stream.stream->capturing()) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              "the stream is being captured, and a graph would repeat this; allocate before the capture and free after it");
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"memPool", memPool}, {"poolProps", poolProps}}));
    RW_TRY(RequirePoolProps(*poolProps));
    RW_TRY_SET(int device, FindDevice("poolProps->location.id", poolProps->location.id));
    RW_TRY(CurrentContext().status());
    Heap& heap = TheMemory().device_heap(device);
    RW_TRY_SET(size_t max_size, MaxSizeOf(poolProps->maxSize, heap.usage().capacity));
    void* made = Pool::Create(heap, device, max_size);
    if (made == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the process has no room for another pool; destroy some");
    *memPool = made;
    return Ok();
  });
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("memPool", memPool));
    RW_TRY(CurrentContext().status());
    RW_TRY_SET(PoolHold pool, HoldPool(memPool, ACL_ERROR_RT_INTERNAL_ERROR));
    return pool->Destroy();
  });
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(PoolHold pool, HoldForAttribute(memPool, attr, value));
    return pool->SetAttribute(attr, value);
  });
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(PoolHold pool, HoldForAttribute(memPool, attr, value));
    pool->GetAttribute(attr, value);
    return Ok();
  });
}

aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
  const void* caller = __builtin_return_address(0);
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"memPool", memPool}, {"stream", stream}}));
    if (size == 0) return Ok();
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireOwnUncapturedStream(target, *context));
    size_t rounded = 0;
    if (!RoundUp(size, &rounded)) return Fail(ACL_ERROR_RT_PARAM_INVALID, "size %zu is too large to be rounded up to 2 MiB", size);
    RW_TRY_SET(PoolHold pool, HoldPool(memPool, ACL_ERROR_RT_INTERNAL_ERROR));
    RW_TRY(MemoryFault("aclrtMemPoolMallocAsync", context->device(), size));
    RW_TRY_SET(void* block, pool->Malloc({rounded, target, &context->scope(), "aclrtMemPoolMallocAsync", ProgramCaller(caller)}));
    *ptr = block;
    return Ok();
  });
}

aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    if (stream == nullptr) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "stream is NULL; name the stream in whose order the memory is freed");
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireOwnUncapturedStream(target, *context));
    PoolHold pool(Pools(), Pools().Acquire(TheMemory().FindBlock(ptr).pool));
    if (!pool) return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is no live block of a pool; aclrtFree frees other memory", ptr);
    return pool->FreeOn(ptr, target, &context->scope(), "aclrtMemPoolFreeAsync");
  });
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("memPool", memPool));
    RW_TRY(CurrentContext().status());
    RW_TRY_SET(PoolHold pool, HoldPool(memPool, ACL_ERROR_RT_INTERNAL_ERROR));
    pool->TrimTo(minBytesToKeep);
    return Ok();
  });
}
