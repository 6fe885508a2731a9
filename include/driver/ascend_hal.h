/*
 * The driver. What stands for a call of acl_rt.h makes that call; queues and ids of hardware do not exist here and are refused with
 * DRV_ERROR_NOT_SUPPORT. Device ids are those of aclrtSetDevice, and the calls want a device set as their kin do.
 */
#ifndef RW_DRIVER_ASCEND_HAL_H
#define RW_DRIVER_ASCEND_HAL_H

#include "acl/detail/api_macros.h"
#include "ascend_hal_base.h"
#include "ascend_hal_dc.h"
#include "ascend_hal_define.h"
#include "ascend_hal_external.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API drvError_t halHostRegister(void* src_ptr, UINT64 size, UINT32 flag, UINT32 devid, void** dst_ptr);
RW_API drvError_t halHostUnregister(void* src_ptr, UINT32 devid);
RW_API drvError_t halHostUnregisterEx(void* src_ptr, UINT32 devid, UINT32 flag);
RW_API drvError_t halHostRegisterCapabilities(uint32_t devid, uint32_t acc_module_type, uint32_t* mem_map_cap);
RW_API drvError_t halMemAddressReserve(void** ptr, size_t size, size_t alignment, void* addr, uint64_t flag);
RW_API drvError_t halMemAddressFree(void* ptr);
RW_API drvError_t halMemCreate(drv_mem_handle_t** handle, size_t size, const struct drv_mem_prop* prop, uint64_t flag);
RW_API drvError_t halMemRelease(drv_mem_handle_t* handle);
RW_API drvError_t halMemMap(void* ptr, size_t size, size_t offset, drv_mem_handle_t* handle, uint64_t flag);
RW_API drvError_t halMemUnmap(void* ptr);
RW_API drvError_t halMemSetAccess(void* ptr, size_t size, struct drv_mem_access_desc* desc, size_t count);
RW_API drvError_t halMemGetAllocationGranularity(const struct drv_mem_prop* prop, drv_mem_granularity_options option, size_t* granularity);
RW_API drvError_t halMemExportToShareableHandleV2(drv_mem_handle_t* handle, drv_mem_handle_type handle_type, uint64_t flags,
                                                  struct MemShareHandle* share_handle);
RW_API drvError_t halMemImportFromShareableHandleV2(drv_mem_handle_type handle_type, struct MemShareHandle* share_handle, uint32_t devid,
                                                    drv_mem_handle_t** handle);
RW_API drvError_t halMemTransShareableHandle(drv_mem_handle_type handle_type, struct MemShareHandle* share_handle, uint32_t* server_id,
                                             uint64_t* shareable_handle);
RW_API drvError_t halMemShareHandleSetAttribute(uint64_t shareable_handle, enum ShareHandleAttrType type, struct ShareHandleAttr attr);
RW_API drvError_t halMemExportToShareableHandle(drv_mem_handle_t* handle, drv_mem_handle_type handle_type, uint64_t flags,
                                                uint64_t* shareable_handle);
RW_API drvError_t halMemImportFromShareableHandle(uint64_t shareable_handle, uint32_t devid, drv_mem_handle_t** handle);
RW_API drvError_t halMemRetainAllocationHandle(drv_mem_handle_t** handle, void* ptr);
RW_API DVresult halMemGetInfo(DVdevice device, unsigned int type, struct MemInfo* info);
RW_API drvError_t drvGetDevNum(uint32_t* num_dev);
RW_API drvError_t drvGetLocalDevIDByHostDevID(uint32_t host_dev_id, uint32_t* local_dev_id);
RW_API drvError_t halGetAPIVersion(int* halAPIVersion);
RW_API drvError_t halGetDeviceInfo(uint32_t devId, int32_t moduleType, int32_t infoType, int64_t* value);
RW_API drvError_t halSqCqAllocate(uint32_t devId, struct halSqCqInputInfo* in, struct halSqCqOutputInfo* out);
RW_API drvError_t halSqCqFree(uint32_t devId, struct halSqCqFreeInfo* info);
RW_API drvError_t halSqCqQuery(uint32_t devId, struct halSqCqQueryInfo* info);
RW_API drvError_t halSqCqConfig(uint32_t devId, struct halSqCqConfigInfo* info);
RW_API drvError_t halSqTaskSend(uint32_t devId, struct halTaskSendInfo* info);
RW_API drvError_t halCqReportRecv(uint32_t devId, struct halReportRecvInfo* info);
RW_API drvError_t halResourceIdAlloc(uint32_t devId, struct halResourceIdInputInfo* in, struct halResourceIdOutputInfo* out);
RW_API drvError_t halResourceIdFree(uint32_t devId, struct halResourceIdInputInfo* in);
RW_API drvError_t halResourceConfig(uint32_t devId, struct halResourceIdInputInfo* in, struct halResourceConfigInfo* para);
RW_API drvError_t halResourceIdRestore(struct drvResIdKey* info);
RW_API drvError_t halEschedSubmitEvent(unsigned int devId, struct event_summary* event);
RW_API drvError_t drvNotifyIdAddrOffset(uint32_t devId, struct drvNotifyInfo* info);

#ifdef __cplusplus
}
#endif

#endif /* RW_DRIVER_ASCEND_HAL_H */
