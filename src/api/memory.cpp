// Device memory: allocation, free, queries (rules/memory.md).
#include <algorithm>
#include <cstring>

#include "api/checks.h"
#include "api/entry.h"
#include "api/malloc_config.h"
#include "base/bytes.h"
#include "memory/pool.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kPad = 32;  // A2 and A3; aclrtMalloc and aclrtMallocCached add it

enum class Pages { kNormal, kHuge, kHuge1G };

// Only WithCfg and ForTaskScheduler take OR-combinations; the page policy is in the low byte. Unknown values mean default.
Pages PagesFor(unsigned policy, size_t size) {
  switch (policy & 0xFF) {
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY_P2P: return Pages::kNormal;
    case ACL_MEM_MALLOC_HUGE_ONLY:
    case ACL_MEM_MALLOC_HUGE_ONLY_P2P: return Pages::kHuge;
    case ACL_MEM_MALLOC_HUGE1G_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P: return Pages::kHuge1G;
    case ACL_MEM_MALLOC_HUGE_FIRST:
    case ACL_MEM_MALLOC_HUGE_FIRST_P2P: return size > kMiB ? Pages::kHuge : Pages::kNormal;
    default: return size >= 2 * kMiB ? Pages::kHuge : Pages::kNormal;
  }
}

// aclrtMallocCached knows fewer policies; the others are its default.
unsigned CachedPolicy(aclrtMemMallocPolicy policy) {
  switch (policy) {
    case ACL_MEM_MALLOC_HUGE_FIRST:
    case ACL_MEM_MALLOC_HUGE_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY: return static_cast<unsigned>(policy);
    default: return 0xFF;
  }
}

Status RequireSize(size_t size) {
  if (size != 0) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "size is 0");
}

// Rounding up must not wrap; the plain forms say so before anything else is looked at.
Status RequireRoundable(size_t size, size_t pad) {
  if (size <= SIZE_MAX - 31 - pad) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "size %zu is too large to be rounded up", size);
}

Status Allocate(void** devPtr, size_t size, size_t pad, unsigned policy, const char* call, const void* caller) {
  RW_TRY_SET(Context * context, CurrentContext());
  RW_TRY(MemoryFault(call, context->device(), size));
  const Pages pages = PagesFor(policy, size);
  HeapRequest request;
  const bool too_large = size > SIZE_MAX - 2 * kGiB;
  request.reserved = pages == Pages::kHuge1G ? RoundUp(size, kGiB) : RoundUp(size, 32) + pad;
  request.huge_pages = pages != Pages::kNormal;
  request.page_size = static_cast<uint32_t>(pages == Pages::kNormal ? 4096 : pages == Pages::kHuge ? 2 * kMiB : kGiB);
  request.call = call;
  request.caller = ProgramCaller(caller);
  std::optional<void*> block;
  if (!too_large) block = TheMemory().AllocateDevice(context->device(), request);
  if (!block && !too_large && Pool::TrimAllOf(context->device())) block = TheMemory().AllocateDevice(context->device(), request);
  const EngineMemory::Refusal refusal = TheEngine().memory().TakeRefusal();
  if (!block) {
    const Heap::Usage usage = TheMemory().device_usage(context->device());
    const bool scarce = TheMemory().addresses_scarce();
    return Fail(refusal.code != 0 ? refusal.code : ACL_ERROR_RT_MEMORY_ALLOCATION,
                "size %zu does not fit: device %d has %zu of %zu bytes free (%zu blocks)%s; free some, or %s%s", size,
                Runtime::UserIdOf(context->device()), usage.capacity - usage.bytes, usage.capacity, usage.blocks, refusal.text.c_str(),
                scarce ? "leave each device more addresses by a lower ROPEWAY_DEVICES: " : "raise ROPEWAY_DEVICE_MEMORY",
                scarce ? TheMemory().address_reason().c_str() : "");
  }
  *devPtr = *block;
  return Ok();
}

Status AllocatePlain(void** devPtr, size_t size, size_t pad, unsigned policy, const char* call, const void* caller) {
  RW_TRY(RequirePointer("devPtr", devPtr));
  RW_TRY(RequireSize(size));
  RW_TRY(RequireRoundable(size, pad));
  return Allocate(devPtr, size, pad, policy, call, caller);
}

Status AllocateConfigured(void** devPtr, size_t size, aclrtMemMallocPolicy policy, const aclrtMallocConfig* cfg, const char* call,
                          const void* caller) {
  RW_TRY(RequirePointer("devPtr", devPtr));
  if (cfg != nullptr && cfg->numAttrs != 0) RW_TRY(RequirePointer("cfg->attrs", cfg->attrs));
  RW_TRY(RequireSize(size));
  if (cfg != nullptr && cfg->attrs == nullptr)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "cfg has neither attrs nor numAttrs; pass NULL for no configuration");
  RW_TRY_SET(Context * context, CurrentContext());
  RW_TRY(RequireDeviceAttributes(cfg, Runtime::UserIdOf(context->device())));
  return Allocate(devPtr, size, 0, static_cast<unsigned>(policy), call, caller);
}

bool FreeToPool(const Memory& memory, void* address) {
  void* handle = memory.FindBlock(address).pool;
  if (handle == nullptr) return false;
  PoolHold pool(Pools(), Pools().Acquire(handle));
  return pool && pool->FreeNow(address);
}

// Frees device, managed and pool blocks, and (as the original does) pinned host blocks that are handed in here.
Status FreeBlock(void* devPtr) {
  Runtime* runtime = Runtime::GetIfStarted();
  if (runtime != nullptr) {
    Memory& memory = runtime->memory();
    if (memory.FreeDevice(devPtr) || FreeToPool(memory, devPtr)) return Ok();
    if (memory.FreeManaged(devPtr) || memory.FreeHost(devPtr)) return Ok();
  }
  return RefuseFree(runtime, "devPtr", devPtr);
}

}  // namespace
}  // namespace ropeway::api

#define RW_CALLER __builtin_return_address(0)

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] {
    const bool one_gib_pages = PagesFor(static_cast<unsigned>(policy), size) == Pages::kHuge1G;
    return AllocatePlain(devPtr, size, one_gib_pages ? 0 : kPad, static_cast<unsigned>(policy), "aclrtMalloc", caller);
  });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] { return AllocatePlain(devPtr, size, 0, static_cast<unsigned>(policy), "aclrtMallocAlign32", caller); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] { return AllocatePlain(devPtr, size, kPad, CachedPolicy(policy), "aclrtMallocCached", caller); });
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] { return AllocateConfigured(devPtr, size, policy, cfg, "aclrtMallocWithCfg", caller); });
}

aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
  const void* caller = RW_CALLER;
  return Entry(__func__, [&] { return AllocateConfigured(devPtr, size, policy, cfg, "aclrtMallocForTaskScheduler", caller); });
}

aclError aclrtFree(void* devPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    return FreeBlock(devPtr);
  });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    RW_TRY(SynchronizeCurrentDevice(Deadline::Never()));
    return FreeBlock(devPtr);
  });
}

// --- Queries ------------------------------------------------------------------------------------------------------------

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequirePointer("attributes", attributes));
    Location location;
    uint32_t page_size = 0;
    Runtime* runtime = Runtime::GetIfStarted();
    const BlockInfo block = runtime != nullptr ? runtime->memory().FindBlock(ptr) : BlockInfo();
    // Pinned memory that was freed is ordinary host memory to this query, though no copy accepts it.
    const bool freed_pinned = runtime != nullptr && runtime->memory().InHostSpace(ptr) && !block.found();
    if (runtime != nullptr && !freed_pinned) {
      RW_TRY(runtime->memory().Locate("ptr", ptr, 1, &location));
      if (location.place != Place::kPageable) page_size = block.found() ? block.page_size : 4096;
    }
    aclrtPtrAttributes answer{};
    // By place; what lies nowhere was refused above.
    static constexpr aclrtMemLocationType kTypes[] = {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE,
                                                      ACL_MEM_LOCATION_TYPE_UNREGISTERED, ACL_MEM_LOCATION_TYPE_UNREGISTERED,
                                                      ACL_MEM_LOCATION_TYPE_MANAGED};
    answer.location.type = kTypes[static_cast<int>(location.place)];
    if (location.device >= 0) answer.location.id = static_cast<uint32_t>(Runtime::UserIdOf(location.device));
    answer.pageSize = page_size;
    *attributes = answer;
    return Ok();
  });
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("ptr", ptr));
    if (pbase == nullptr && psize == nullptr)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "pbase and psize are both NULL; at least one is needed");
    Runtime* runtime = Runtime::GetIfStarted();
    const BlockInfo block = runtime != nullptr ? runtime->memory().FindBlock(ptr) : BlockInfo();
    if (!block.found())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p lies in no block of aclrtMalloc, aclrtMallocHost or aclrtMemAllocManaged", ptr);
    if (pbase != nullptr) *pbase = reinterpret_cast<void*>(block.base);
    if (psize != nullptr) *psize = block.size;
    return Ok();
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("free", free));
    RW_TRY(RequirePointer("total", total));
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G)
      return Fail(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "attr %d is not one of 0 to 17", static_cast<int>(attr));
    RW_TRY_SET(Context * context, CurrentContext());
    const Heap::Usage usage = TheMemory().device_usage(context->device());
    size_t unit = 0;  // 0: a pool that this device does not have
    switch (attr) {
      case ACL_HBM_MEM:
      case ACL_HBM_MEM_HUGE:
      case ACL_HBM_MEM_P2P_HUGE:
      case ACL_MEM_HUGE:
      case ACL_MEM_P2P_HUGE: unit = 1; break;
      case ACL_HBM_MEM_HUGE1G:
      case ACL_HBM_MEM_P2P_HUGE1G:
      case ACL_MEM_HUGE1G:
      case ACL_MEM_P2P_HUGE1G: unit = kGiB; break;
      default: break;
    }
    *total = unit == 0 ? 0 : usage.capacity / unit * unit;
    *free = unit == 0 ? 0 : (usage.capacity - usage.bytes) / unit * unit;
    return Ok();
  });
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum, size_t* outputNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("memUsageInfo", memUsageInfo));
    RW_TRY(RequirePointer("outputNum", outputNum));
    *outputNum = 0;
    if (inputNum == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "inputNum is 0");
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    RW_TRY(CurrentContext().status());
    const Heap::Usage usage = TheMemory().device_usage(device);
    *memUsageInfo = aclrtMemUsageInfo{};
    std::strncpy(memUsageInfo->name, "APP", sizeof(memUsageInfo->name) - 1);
    memUsageInfo->curMemSize = usage.bytes;
    memUsageInfo->memPeakSize = usage.peak_bytes;
    *outputNum = 1;
    return Ok();
  });
}

aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType, uint32_t* checkResult, uint32_t reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("addrList", addrList));
    RW_TRY(RequirePointer("checkResult", checkResult));
    *checkResult = 0;
    if (reserve != 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "reserve %u must be 0", reserve);
    if (size == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "size is 0");
    constexpr uint32_t kKnown = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
    if (memType == 0 || (memType & ~kKnown) != 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "memType 0x%x has bits outside 0x%x", memType, kKnown);
    RW_TRY(CurrentContext().status());
    const bool all_device = std::all_of(addrList, addrList + size, [](const void* address) {
      const BlockInfo block = TheMemory().FindBlock(address);
      return block.found() && TheMemory().InDeviceSpace(address);
    });
    *checkResult = all_device && (memType & ACL_RT_MEM_TYPE_DEV) != 0 ? 1 : 0;
    return Ok();
  });
}

// Host and device see one memory here: there is nothing to flush.
aclError aclrtMemFlush(void* devPtr, size_t size) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    return RequireSize(size);
  });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devPtr", devPtr));
    return RequireSize(size);
  });
}
