#include "hixl/api/shareable_memory.h"

#include "base/bytes.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {

ShareableMemory& ShareableMemory::Get() {
  static ShareableMemory* const memory = new ShareableMemory;
  return *memory;
}

namespace {

// On the current device, in pages that can be handed on.
Status NewPhysical(int type, size_t* size, aclrtDrvMemHandle* memory) {
  int32_t device = 0;
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&device)));
  aclrtPhysicalMemProp wanted{};
  wanted.memAttr = ACL_HBM_MEM_HUGE;
  wanted.location = {static_cast<uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
  if (type == ::hixl::MEM_HOST) {
    wanted.memAttr = ACL_MEM_P2P_HUGE;
    wanted.location = {0, ACL_MEM_LOCATION_TYPE_HOST};
  }
  size_t unit = 0;
  RW_TRY(FromRuntime("aclrtMemGetAllocationGranularity",
                     aclrtMemGetAllocationGranularity(&wanted, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &unit)));
  *size = RoundUp(*size, unit);
  return FromRuntime("aclrtMallocPhysical", aclrtMallocPhysical(memory, *size, &wanted, 0));
}

}  // namespace

Status ShareableMemory::Map(aclrtDrvMemHandle memory, size_t size, void** address) {
  RW_TRY(FromRuntime("aclrtReserveMemAddress", aclrtReserveMemAddress(address, size, 0, nullptr, 0)));
  Status status = FromRuntime("aclrtMapMem", aclrtMapMem(*address, size, 0, memory, 0));
  if (!status.ok()) aclrtReleaseMemAddress(*address);
  return status;
}

uint32_t ShareableMemory::Malloc(const Call& call, int type, size_t size, void** address) {
  return Entry(call.name, call.caller, [&]() -> Status {
    if (type != ::hixl::MEM_DEVICE && type != ::hixl::MEM_HOST)
      return Fail(kParamInvalid, "type %d is neither MEM_DEVICE (0) nor MEM_HOST (1)", type);
    if (size == 0) return Fail(kParamInvalid, "size is 0");
    if (address == nullptr) return Fail(kParamInvalid, "ptr is NULL");
    aclrtDrvMemHandle memory = nullptr;
    size_t rounded = size;
    RW_TRY(NewPhysical(type, &rounded, &memory));
    void* mapped = nullptr;
    if (Status status = Map(memory, rounded, &mapped); !status.ok()) {
      aclrtFreePhysical(memory);
      return status;
    }
    LockGuard lock(mutex_);
    blocks_[mapped].memory = memory;
    *address = mapped;
    return Ok();
  });
}

uint32_t ShareableMemory::Free(const Call& call, void* address) {
  return Entry(call.name, call.caller, [&]() -> Status {
    if (address == nullptr) return Fail(kParamInvalid, "ptr is NULL");
    LockGuard lock(mutex_);
    const auto node = blocks_.extract(address);
    if (!node) return Fail(kFailed, "ptr %p is none of MallocMem, or was freed", address);
    lock.unlock();
    RW_TRY(FromRuntime("aclrtUnmapMem", aclrtUnmapMem(address)));
    RW_TRY(FromRuntime("aclrtReleaseMemAddress", aclrtReleaseMemAddress(address)));
    return FromRuntime("aclrtFreePhysical", aclrtFreePhysical(node.mapped().memory));
  });
}

uint32_t ShareableMemory::Export(const Call& call, void* address, aclrtMemFabricHandle* handle) {
  return Entry(call.name, call.caller, [&]() -> Status {
    if (address == nullptr) return Fail(kParamInvalid, "ptr is NULL");
    LockGuard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return Fail(kParamInvalid, "ptr %p is none of MallocMem, or was freed", address);
    Block& block = found->second;
    if (!block.exported)
      RW_TRY(FromRuntime("aclrtMemExportToShareableHandleV2",
                         aclrtMemExportToShareableHandleV2(block.memory, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                                           ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &block.handle)));
    block.exported = true;
    *handle = block.handle;
    return Ok();
  });
}

}  // namespace ropeway::transfer
