// The driver's functions that stand for one of ours, by its names and codes (libascend_hal.so). What is about hardware is refused
// (refused/driver.inc).
#include <cstring>
#include <span>
#include <vector>

#include "api/checks.h"
#include "api/device_facts.h"
#include "api/other_codes.h"
#include "api/virtual_memory_checks.h"
#include "ipc/number.h"
#include "memory/physical_share.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr int64_t kMostAccessDescriptions = 1024;
constexpr int kDriverVersion = 0x080300;  // our choice, in the form that the driver uses: of the toolkit that we stand in for

// --- Host memory: what a flag of the driver asks for --------------------------------------------------------------------

Result<uint32_t> RegistrationFlags(UINT32 flag) {
  const UINT32 type = flag & ~(MEM_REGISTER_READ_ONLY | MEM_REGISTER_HOST_PINNED);
  if (type != HOST_MEM_MAP_DEV && type != HOST_MEM_MAP_DEV_PCIE_TH && type != HOST_MEM_MAP_DMA && type != HOST_IO_MAP_DEV)
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "flag 0x%x does not map host memory; it must be 0, 3, 5 or 6, for device memory there is ropewayHostView", flag);
  uint32_t flags = ACL_HOST_REG_MAPPED;
  if (type == HOST_IO_MAP_DEV) flags |= ACL_HOST_REG_IOMEMORY;
  if ((flag & MEM_REGISTER_READ_ONLY) != 0) flags |= ACL_HOST_REG_READONLY;
  if ((flag & MEM_REGISTER_HOST_PINNED) != 0) flags |= ACL_HOST_REG_PINNED;
  return flags;
}

// --- Physical memory: the driver's description as the runtime's ---------------------------------------------------------

Result<aclrtMemAttr> AttributeOf(const drv_mem_prop& prop) {
  RW_TRY(RequireRange(Layer::kRuntime, "prop->mem_type", prop.mem_type, MEM_HBM_TYPE, MEM_P2P_DDR_TYPE));
  RW_TRY(RequireRange(Layer::kRuntime, "prop->pg_type", prop.pg_type, MEM_NORMAL_PAGE_TYPE, MEM_GIANT_PAGE_TYPE));
  constexpr aclrtMemAttr kByPages[2][3] = {{ACL_MEM_NORMAL, ACL_MEM_HUGE, ACL_MEM_HUGE1G},
                                           {ACL_MEM_P2P_NORMAL, ACL_MEM_P2P_HUGE, ACL_MEM_P2P_HUGE1G}};
  return kByPages[prop.mem_type >= MEM_P2P_HBM_TYPE ? 1 : 0][prop.pg_type];
}

aclrtMemLocationType PlaceOf(uint32_t side) {
  if (side == MEM_DEV_SIDE) return ACL_MEM_LOCATION_TYPE_DEVICE;
  return side == MEM_HOST_SIDE ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

Status Translate(const drv_mem_prop* prop, aclrtPhysicalMemProp* translated) {
  RW_TRY(RequirePointer("prop", prop));
  RW_TRY(RequireRange(Layer::kRuntime, "prop->side", prop->side, MEM_HOST_SIDE, MEM_HOST_NUMA_SIDE));
  *translated = {ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_MEM_NORMAL, {prop->devid, PlaceOf(prop->side)}, 0};
  RW_TRY_SET(translated->memAttr, AttributeOf(*prop));
  return Ok();
}

// --- Shared memory: a number is in the first bytes of a handle ----------------------------------------------------------

Status RequireNumbers(drv_mem_handle_type handle_type) {
  RW_TRY(RequireRange(Layer::kRuntime, "handle_type", handle_type, MEM_HANDLE_TYPE_NONE, MEM_HANDLE_TYPE_FABRIC));
  if (handle_type == MEM_HANDLE_TYPE_NONE) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "handle_type FABRIC (1) is no number; use the calls that end in V2");
}

uint64_t NumberIn(const MemShareHandle& handle) {
  uint64_t number;
  std::memcpy(&number, handle.share_info, sizeof(number));
  return number;
}

aclrtMemSharedHandleType SharedType(drv_mem_handle_type handle_type) {
  return handle_type == MEM_HANDLE_TYPE_NONE ? ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT : ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
}

// Checks that are the driver's, and then the call that it stands for.
template <typename Checks, typename Forward>
[[gnu::always_inline]] inline drvError_t Forwarded(const char* call, Checks&& checks, Forward&& forward) {
  const aclError checked = Entry(call, checks);
  return Driver::Of(checked == ACL_SUCCESS ? forward() : checked);
}

}  // namespace
}  // namespace ropeway::api

// --- Host memory --------------------------------------------------------------------------------------------------------

drvError_t halHostRegister(void* src_ptr, UINT64 size, UINT32 flag, UINT32 devid, void** dst_ptr) {
  uint32_t flags = 0;
  auto checks = [&]() -> Status {
    RW_TRY(RequirePointers({{"src_ptr", src_ptr}, {"dst_ptr", dst_ptr}}));
    RW_TRY(FindDevice("devid", devid).status());
    RW_TRY_SET(flags, RegistrationFlags(flag));
    return Ok();
  };
  return Forwarded(__func__, checks, [&] {
    const aclError registered = aclrtHostRegisterV2(src_ptr, size, flags);
    return registered == ACL_SUCCESS ? aclrtHostGetDevicePointer(src_ptr, dst_ptr, 0) : registered;
  });
}

drvError_t halHostUnregister(void* src_ptr, UINT32 devid) { return halHostUnregisterEx(src_ptr, devid, HOST_MEM_MAP_DEV); }

drvError_t halHostUnregisterEx(void* src_ptr, UINT32 devid, UINT32 flag) {
  auto checks = [&]() -> Status {
    RW_TRY(FindDevice("devid", devid).status());
    return RegistrationFlags(flag).status();
  };
  return Forwarded(__func__, checks, [&] { return aclrtHostUnregister(src_ptr); });
}

drvError_t halHostRegisterCapabilities(uint32_t devid, uint32_t acc_module_type, uint32_t* mem_map_cap) {
  auto capability = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
  auto checks = [&] { return RequirePointer("mem_map_cap", mem_map_cap); };
  return Forwarded(__func__, checks, [&] {
    const aclError asked = aclrtHostMemMapCapabilities(devid, static_cast<aclrtHacType>(acc_module_type), &capability);
    if (asked == ACL_SUCCESS) *mem_map_cap = capability;
    return asked;
  });
}

// --- Virtual memory -----------------------------------------------------------------------------------------------------

drvError_t halMemAddressReserve(void** ptr, size_t size, size_t alignment, void* addr, uint64_t flag) {
  return Driver::Of(aclrtReserveMemAddress(ptr, size, alignment, addr, flag));
}

drvError_t halMemAddressFree(void* ptr) { return Driver::Of(aclrtReleaseMemAddress(ptr)); }

drvError_t halMemCreate(drv_mem_handle_t** handle, size_t size, const struct drv_mem_prop* prop, uint64_t flag) {
  aclrtPhysicalMemProp translated;
  return Forwarded(
      __func__, [&] { return Translate(prop, &translated); },
      [&] { return aclrtMallocPhysical(reinterpret_cast<aclrtDrvMemHandle*>(handle), size, &translated, flag); });
}

drvError_t halMemRelease(drv_mem_handle_t* handle) { return Driver::Of(aclrtFreePhysical(handle)); }

drvError_t halMemMap(void* ptr, size_t size, size_t offset, drv_mem_handle_t* handle, uint64_t flag) {
  return Driver::Of(aclrtMapMem(ptr, size, offset, handle, flag));
}

drvError_t halMemUnmap(void* ptr) { return Driver::Of(aclrtUnmapMem(ptr)); }

drvError_t halMemSetAccess(void* ptr, size_t size, struct drv_mem_access_desc* desc, size_t count) {
  std::vector<aclrtMemAccessDesc> translated;
  auto checks = [&]() -> Status {
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY(RequireRange(Layer::kRuntime, "count", static_cast<int64_t>(count), 1, kMostAccessDescriptions));
    for (const drv_mem_access_desc& one : std::span(desc, count))
      translated.push_back({static_cast<aclrtMemAccessFlags>(one.type), {one.location.id, PlaceOf(one.location.side)}, {}});
    return Ok();
  };
  return Forwarded(__func__, checks, [&] { return aclrtMemSetAccess(ptr, size, translated.data(), count); });
}

drvError_t halMemGetAllocationGranularity(const struct drv_mem_prop* prop, drv_mem_granularity_options option, size_t* granularity) {
  aclrtPhysicalMemProp translated;
  return Forwarded(
      __func__, [&] { return Translate(prop, &translated); },
      [&] { return aclrtMemGetAllocationGranularity(&translated, static_cast<aclrtMemGranularityOptions>(option), granularity); });
}

drvError_t halMemRetainAllocationHandle(drv_mem_handle_t** handle, void* ptr) {
  return Driver::Of(aclrtMemRetainAllocationHandle(ptr, reinterpret_cast<aclrtDrvMemHandle*>(handle)));
}

// --- Shared memory ------------------------------------------------------------------------------------------------------

drvError_t halMemExportToShareableHandle(drv_mem_handle_t* handle, drv_mem_handle_type handle_type, uint64_t flags,
                                         uint64_t* shareable_handle) {
  return Forwarded(
      __func__, [&] { return RequireNumbers(handle_type); },
      [&] { return aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, flags, shareable_handle); });
}

drvError_t halMemImportFromShareableHandle(uint64_t shareable_handle, uint32_t devid, drv_mem_handle_t** handle) {
  return Driver::Of(
      aclrtMemImportFromShareableHandle(shareable_handle, static_cast<int32_t>(devid), reinterpret_cast<aclrtDrvMemHandle*>(handle)));
}

drvError_t halMemExportToShareableHandleV2(drv_mem_handle_t* handle, drv_mem_handle_type handle_type, uint64_t flags,
                                           struct MemShareHandle* share_handle) {
  auto checks = [&]() -> Status {
    RW_TRY(RequirePointer("share_handle", share_handle));
    RW_TRY(RequireRange(Layer::kRuntime, "handle_type", handle_type, MEM_HANDLE_TYPE_NONE, MEM_HANDLE_TYPE_FABRIC));
    *share_handle = {};
    return Ok();
  };
  return Forwarded(__func__, checks,
                   [&] { return aclrtMemExportToShareableHandleV2(handle, flags, SharedType(handle_type), share_handle); });
}

// The runtime imports keys for the current device.
drvError_t halMemImportFromShareableHandleV2(drv_mem_handle_type handle_type, struct MemShareHandle* share_handle, uint32_t devid,
                                             drv_mem_handle_t** handle) {
  auto checks = [&]() -> Status {
    RW_TRY(RequirePointer("share_handle", share_handle));
    RW_TRY(RequireRange(Layer::kRuntime, "handle_type", handle_type, MEM_HANDLE_TYPE_NONE, MEM_HANDLE_TYPE_FABRIC));
    RW_TRY_SET(int device, FindDevice("devid", devid));
    RW_TRY_SET(Context * context, CurrentContext());
    if (handle_type == MEM_HANDLE_TYPE_NONE || context->device() == device) return Ok();
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "devid %u is not the current device, for which FABRIC handles are imported", devid);
  };
  return Forwarded(__func__, checks, [&] {
    if (handle_type == MEM_HANDLE_TYPE_NONE) {
      return aclrtMemImportFromShareableHandle(NumberIn(*share_handle), static_cast<int32_t>(devid),
                                               reinterpret_cast<aclrtDrvMemHandle*>(handle));
    }
    return aclrtMemImportFromShareableHandleV2(share_handle, SharedType(handle_type), 0, reinterpret_cast<aclrtDrvMemHandle*>(handle));
  });
}

drvError_t halMemTransShareableHandle(drv_mem_handle_type handle_type, struct MemShareHandle* share_handle, uint32_t* server_id,
                                      uint64_t* shareable_handle) {
  return Driver::Of(Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"share_handle", share_handle}, {"server_id", server_id}, {"shareable_handle", shareable_handle}}));
    RW_TRY(RequireNumbers(handle_type));
    *shareable_handle = NumberIn(*share_handle);
    *server_id = static_cast<uint32_t>(DeviceAttribute(0, ACL_DEV_ATTR_SUPER_POD_SERVER_ID).value_or(0));
    return Ok();
  }));
}

drvError_t halMemShareHandleSetAttribute(uint64_t shareable_handle, enum ShareHandleAttrType type, struct ShareHandleAttr attr) {
  return Driver::Of(Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRange(Layer::kRuntime, "type", type, SHR_HANDLE_ATTR_NO_WLIST_IN_SERVER, SHR_HANDLE_ATTR_NO_WLIST_IN_SERVER));
    RW_TRY(RequireRange(Layer::kRuntime, "attr.enableFlag", attr.enableFlag, 1, 1));
    RW_TRY(TheVirtualMemory().status());
    return AdmitEverybodyToPhysical(ipc::KeyOfNumber(shareable_handle));
  }));
}

// --- Devices ------------------------------------------------------------------------------------------------------------

drvError_t drvGetDevNum(uint32_t* num_dev) { return Driver::Of(aclrtGetDeviceCount(num_dev)); }

drvError_t drvGetLocalDevIDByHostDevID(uint32_t host_dev_id, uint32_t* local_dev_id) {
  return Driver::Of(aclrtGetUserDevIdByPhyDevId(static_cast<int32_t>(host_dev_id), reinterpret_cast<int32_t*>(local_dev_id)));
}

drvError_t halGetAPIVersion(int* halAPIVersion) {
  return Driver::Of(PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("halAPIVersion", halAPIVersion));
    *halAPIVersion = kDriverVersion;
    return Ok();
  }));
}
