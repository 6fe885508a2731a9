// Size, alignment and field offsets of every public structure, on 64-bit Linux: programs compiled against the vendor's
// headers hand these bytes over. The numbers were taken from the text of the contract and not from the headers.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt_memory_soma.h"
#include "mspti/mspti.h"
#include "mstx/ms_tools_ext.h"

namespace {

struct TypeLayout {
  const char* name;
  size_t size;
  size_t align;
  size_t expected_size;
  size_t expected_align;
};

struct FieldLayout {
  const char* name;
  size_t offset;
  size_t size;
  size_t expected_offset;
  size_t expected_size;
};

// Every field in the tables is an ordinary member of a standard layout type.
#define RW_TYPE(type, size, align) \
  { #type, sizeof(type), alignof(type), size, align }
#define RW_FIELD(type, field, offset, size) \
  { #type "." #field, offsetof(type, field), sizeof(type::field), offset, size }
#define RW_FIELD_TYPE(type, field, ...) static_assert(std::is_same<decltype(type::field), __VA_ARGS__>::value, #field)
#define RW_HANDLE(type) static_assert(std::is_same<type, void*>::value, #type)

const TypeLayout kTypes[] = {
    RW_TYPE(aclprofTensor, 48, 4),
    RW_TYPE(aclprofTensorInfo, 48, 8),
    RW_TYPE(aclprofEventAttributes, 16, 8),
    RW_TYPE(mstxMemVirtualRangeDesc_t, 24, 8),
    RW_TYPE(mstxMemHeapDesc_t, 16, 8),
    RW_TYPE(mstxMemRegionsRegisterBatch_t, 40, 8),
    RW_TYPE(mstxMemRegionRef_t, 16, 8),
    RW_TYPE(mstxMemRegionsUnregisterBatch_t, 16, 8),
    RW_TYPE(msptiCallbackData, 72, 8),
    RW_TYPE(msptiActivityMarker, 56, 8),
    RW_TYPE(msptiActivityKernel, 56, 8),
    RW_TYPE(msptiActivityApi, 48, 8),
    RW_TYPE(msptiActivityMemory, 64, 8),
    RW_TYPE(msptiActivityMemset, 56, 8),
    RW_TYPE(msptiActivityMemcpy, 56, 8),
    RW_TYPE(msptiActivityExternalCorrelation, 24, 8),
    RW_TYPE(msptiActivityCommunication, 72, 8),
    RW_TYPE(aclError, 4, 4),
    RW_TYPE(aclrtStreamAttrValue, 16, 8),
    RW_TYPE(aclrtStreamConfigHandle, 32, 8),
    RW_TYPE(aclrtUtilizationInfo, 24, 8),
    RW_TYPE(aclrtIpcEventHandle, 64, 1),
    RW_TYPE(aclrtCntNotifyRecordInfo, 8, 4),
    RW_TYPE(aclrtCntNotifyWaitInfo, 16, 4),
    RW_TYPE(aclrtUuid, 16, 1),
    RW_TYPE(aclCANNPackageVersion, 512, 1),
    RW_TYPE(aclrtErrorInfoDetail, 2568, 8),
    RW_TYPE(aclrtErrorInfo, 2576, 8),
    RW_TYPE(aclmdlRICondTaskParams, 24, 8),
    RW_TYPE(aclmdlRIKernelTaskParams, 88, 8),
    RW_TYPE(aclmdlRIEventRecordTaskParams, 16, 8),
    RW_TYPE(aclmdlRIEventWaitTaskParams, 16, 8),
    RW_TYPE(aclmdlRIEventResetTaskParams, 16, 8),
    RW_TYPE(aclmdlRITaskParams, 200, 8),
    RW_TYPE(aclrtLaunchKernelAttrValue, 16, 4),
    RW_TYPE(aclrtLaunchKernelAttr, 20, 4),
    RW_TYPE(aclrtLaunchKernelCfg, 16, 8),
    RW_TYPE(aclrtSnapShotBackupArgs, 64, 4),
    RW_TYPE(aclrtTaskUpdateInfo, 48, 8),
    RW_TYPE(aclrtMemLocation, 8, 4),
    RW_TYPE(aclrtMemManagedLocation, 8, 4),
    RW_TYPE(aclrtMemcpyBatchAttr, 32, 4),
    RW_TYPE(aclrtPtrAttributes, 28, 4),
    RW_TYPE(aclrtMallocAttrValue, 8, 4),
    RW_TYPE(aclrtMallocAttribute, 12, 4),
    RW_TYPE(aclrtMallocConfig, 16, 8),
    RW_TYPE(aclrtMemUsageInfo, 112, 8),
    RW_TYPE(aclrtPhysicalMemProp, 32, 8),
    RW_TYPE(aclrtMemFabricHandle, 128, 1),
    RW_TYPE(aclrtMemAccessDesc, 24, 4),
    RW_TYPE(aclrtServerPid, 24, 8),
    RW_TYPE(aclrtMemPoolProps, 56, 8),
    RW_TYPE(aclrtBarrierCmoInfo, 8, 4),
    RW_TYPE(aclrtBarrierTaskInfo, 56, 8),
    RW_TYPE(aclrtMemUceInfo, 128, 8),
    RW_TYPE(aclrtMemUceInfoArray, 2568, 8),
    RW_TYPE(aclmdlRIValueWriteTaskParams, 16, 8),
    RW_TYPE(aclmdlRIValueWaitTaskParams, 24, 8),
    RW_TYPE(MemAttrMapping, 16, 4),
};

const TypeLayout kEnums[] = {
    RW_TYPE(aclCANNPackageName, 4, 4),
    RW_TYPE(aclDeviceInfo, 4, 4),
    RW_TYPE(aclRegisterCallbackType, 4, 4),
    RW_TYPE(aclSysParamOpt, 4, 4),
    RW_TYPE(aclmdlRICaptureMode, 4, 4),
    RW_TYPE(aclmdlRICaptureStatus, 4, 4),
    RW_TYPE(aclmdlRICondHandleFlag, 4, 4),
    RW_TYPE(aclmdlRICondTaskType, 4, 4),
    RW_TYPE(aclmdlRITaskType, 4, 4),
    RW_TYPE(aclrtAicoreErrorType, 4, 4),
    RW_TYPE(aclrtCallbackBlockType, 4, 4),
    RW_TYPE(aclrtCmoType, 4, 4),
    RW_TYPE(aclrtCntNotifyRecordMode, 4, 4),
    RW_TYPE(aclrtCntNotifyWaitMode, 4, 4),
    RW_TYPE(aclrtCompareDataType, 4, 4),
    RW_TYPE(aclrtCondition, 4, 4),
    RW_TYPE(aclrtDevAttr, 4, 4),
    RW_TYPE(aclrtDevFeatureType, 4, 4),
    RW_TYPE(aclrtDevResLimitType, 4, 4),
    RW_TYPE(aclrtDeviceLimit, 4, 4),
    RW_TYPE(aclrtDeviceState, 4, 4),
    RW_TYPE(aclrtDeviceStatus, 4, 4),
    RW_TYPE(aclrtDeviceTaskAbortStage, 4, 4),
    RW_TYPE(aclrtErrorType, 4, 4),
    RW_TYPE(aclrtEventRecordedStatus, 4, 4),
    RW_TYPE(aclrtEventStatus, 4, 4),
    RW_TYPE(aclrtEventWaitStatus, 4, 4),
    RW_TYPE(aclrtFloatOverflowMode, 4, 4),
    RW_TYPE(aclrtHacType, 4, 4),
    RW_TYPE(aclrtHostMemMapCapability, 4, 4),
    RW_TYPE(aclrtHostRegisterType, 4, 4),
    RW_TYPE(aclrtIpcMemAttrType, 4, 4),
    RW_TYPE(aclrtLastErrLevel, 4, 4),
    RW_TYPE(aclrtMallocAttrType, 4, 4),
    RW_TYPE(aclrtMemAccessFlags, 4, 4),
    RW_TYPE(aclrtMemAllocationType, 4, 4),
    RW_TYPE(aclrtMemAttr, 4, 4),
    RW_TYPE(aclrtMemGranularityOptions, 4, 4),
    RW_TYPE(aclrtMemHandleType, 4, 4),
    RW_TYPE(aclrtMemLinkType, 4, 4),
    RW_TYPE(aclrtMemLocationType, 4, 4),
    RW_TYPE(aclrtMemMallocPolicy, 4, 4),
    RW_TYPE(aclrtMemManagedAdviseType, 4, 4),
    RW_TYPE(aclrtMemManagedLocationType, 4, 4),
    RW_TYPE(aclrtMemManagedRangeAttribute, 4, 4),
    RW_TYPE(aclrtMemPgType, 4, 4),
    RW_TYPE(aclrtMemPoolAttr, 4, 4),
    RW_TYPE(aclrtMemSharedHandleType, 4, 4),
    RW_TYPE(aclrtMemType, 4, 4),
    RW_TYPE(aclrtMemcpyKind, 4, 4),
    RW_TYPE(aclrtReduceKind, 4, 4),
    RW_TYPE(aclrtRunMode, 4, 4),
    RW_TYPE(aclrtStreamAttr, 4, 4),
    RW_TYPE(aclrtStreamConfigAttr, 4, 4),
    RW_TYPE(aclrtStreamState, 4, 4),
    RW_TYPE(aclrtStreamStatus, 4, 4),
    RW_TYPE(aclrtTsId, 4, 4),
};

const FieldLayout kFields[] = {
    RW_FIELD(msptiCallbackData, callbackSite, 0, 4),
    RW_FIELD(msptiCallbackData, functionName, 8, 8),
    RW_FIELD(msptiCallbackData, functionParams, 16, 8),
    RW_FIELD(msptiCallbackData, functionReturnValue, 24, 8),
    RW_FIELD(msptiCallbackData, symbolName, 32, 8),
    RW_FIELD(msptiCallbackData, correlationId, 40, 8),
    RW_FIELD(msptiCallbackData, correlationData, 64, 8),
    RW_FIELD(aclprofTensorInfo, stream, 32, 8),
    RW_FIELD(mstxMemRegionsRegisterBatch_t, regionHandleArrayOut, 32, 8),
    RW_FIELD(aclrtStreamAttrValue, failureMode, 0, 8),
    RW_FIELD(aclrtStreamAttrValue, overflowSwitch, 0, 4),
    RW_FIELD(aclrtStreamAttrValue, userCustomTag, 0, 4),
    RW_FIELD(aclrtStreamAttrValue, cacheOpInfoSwitch, 0, 4),
    RW_FIELD(aclrtStreamAttrValue, streamPriority, 0, 4),
    RW_FIELD(aclrtStreamAttrValue, reserve, 0, 16),
    RW_FIELD(aclrtStreamConfigHandle, workptr, 0, 8),
    RW_FIELD(aclrtStreamConfigHandle, workSize, 8, 8),
    RW_FIELD(aclrtStreamConfigHandle, flag, 16, 8),
    RW_FIELD(aclrtStreamConfigHandle, priority, 24, 4),
    RW_FIELD(aclrtUtilizationInfo, cubeUtilization, 0, 4),
    RW_FIELD(aclrtUtilizationInfo, vectorUtilization, 4, 4),
    RW_FIELD(aclrtUtilizationInfo, aicpuUtilization, 8, 4),
    RW_FIELD(aclrtUtilizationInfo, memoryUtilization, 12, 4),
    RW_FIELD(aclrtUtilizationInfo, utilizationExtend, 16, 8),
    RW_FIELD(aclrtIpcEventHandle, reserved, 0, 64),
    RW_FIELD(aclrtCntNotifyRecordInfo, mode, 0, 4),
    RW_FIELD(aclrtCntNotifyRecordInfo, value, 4, 4),
    RW_FIELD(aclrtCntNotifyWaitInfo, mode, 0, 4),
    RW_FIELD(aclrtCntNotifyWaitInfo, value, 4, 4),
    RW_FIELD(aclrtCntNotifyWaitInfo, timeout, 8, 4),
    RW_FIELD(aclrtCntNotifyWaitInfo, isClear, 12, 1),
    RW_FIELD(aclrtCntNotifyWaitInfo, rsv, 13, 3),
    RW_FIELD(aclCANNPackageVersion, version, 0, 128),
    RW_FIELD(aclCANNPackageVersion, majorVersion, 128, 64),
    RW_FIELD(aclCANNPackageVersion, minorVersion, 192, 64),
    RW_FIELD(aclCANNPackageVersion, releaseVersion, 256, 64),
    RW_FIELD(aclCANNPackageVersion, patchVersion, 320, 64),
    RW_FIELD(aclCANNPackageVersion, reserved, 384, 128),
    RW_FIELD(aclrtErrorInfo, tryRepair, 0, 1),
    RW_FIELD(aclrtErrorInfo, hasDetail, 1, 1),
    RW_FIELD(aclrtErrorInfo, reserved, 2, 2),
    RW_FIELD(aclrtErrorInfo, errorType, 4, 4),
    RW_FIELD(aclrtErrorInfo, detail, 8, 2568),
    RW_FIELD(aclmdlRICondTaskParams, handle, 0, 8),
    RW_FIELD(aclmdlRICondTaskParams, type, 8, 4),
    RW_FIELD(aclmdlRICondTaskParams, size, 12, 4),
    RW_FIELD(aclmdlRICondTaskParams, modelRIArray, 16, 8),
    RW_FIELD(aclmdlRIKernelTaskParams, funcHandle, 0, 8),
    RW_FIELD(aclmdlRIKernelTaskParams, cfg, 8, 8),
    RW_FIELD(aclmdlRIKernelTaskParams, args, 16, 8),
    RW_FIELD(aclmdlRIKernelTaskParams, isHostArgs, 24, 4),
    RW_FIELD(aclmdlRIKernelTaskParams, argsSize, 32, 8),
    RW_FIELD(aclmdlRIKernelTaskParams, numBlocks, 40, 4),
    RW_FIELD(aclmdlRIKernelTaskParams, rsv, 44, 40),
    RW_FIELD(aclmdlRIEventRecordTaskParams, event, 0, 8),
    RW_FIELD(aclmdlRIEventRecordTaskParams, eventFlag, 8, 4),
    RW_FIELD(aclmdlRIEventRecordTaskParams, recordFlag, 12, 4),
    RW_FIELD(aclmdlRIEventWaitTaskParams, waitFlag, 12, 4),
    RW_FIELD(aclmdlRIEventWaitTaskParams, event, 0, 8),
    RW_FIELD(aclmdlRIEventWaitTaskParams, eventFlag, 8, 4),
    RW_FIELD(aclmdlRIEventResetTaskParams, resetFlag, 12, 4),
    RW_FIELD(aclmdlRIEventResetTaskParams, event, 0, 8),
    RW_FIELD(aclmdlRIEventResetTaskParams, eventFlag, 8, 4),
    RW_FIELD(aclmdlRITaskParams, type, 0, 4),
    RW_FIELD(aclmdlRITaskParams, rsv0, 4, 12),
    RW_FIELD(aclmdlRITaskParams, taskGrp, 16, 8),
    RW_FIELD(aclmdlRITaskParams, opInfoPtr, 24, 8),
    RW_FIELD(aclmdlRITaskParams, opInfoSize, 32, 8),
    RW_FIELD(aclmdlRITaskParams, rsv1, 40, 32),
    RW_FIELD(aclmdlRITaskParams, rsv2, 72, 128),
    RW_FIELD(aclmdlRITaskParams, kernelTaskParams, 72, 88),
    RW_FIELD(aclmdlRITaskParams, eventRecordTaskParams, 72, 16),
    RW_FIELD(aclmdlRITaskParams, eventWaitTaskParams, 72, 16),
    RW_FIELD(aclmdlRITaskParams, eventResetTaskParams, 72, 16),
    RW_FIELD(aclmdlRITaskParams, valueWriteTaskParams, 72, 16),
    RW_FIELD(aclmdlRITaskParams, valueWaitTaskParams, 72, 24),
    RW_FIELD(aclrtLaunchKernelAttr, id, 0, 4),
    RW_FIELD(aclrtLaunchKernelAttr, value, 4, 16),
    RW_FIELD(aclrtLaunchKernelCfg, attrs, 0, 8),
    RW_FIELD(aclrtLaunchKernelCfg, numAttrs, 8, 8),
    RW_FIELD(aclrtMemLocation, id, 0, 4),
    RW_FIELD(aclrtMemLocation, type, 4, 4),
    RW_FIELD(aclrtMemManagedLocation, type, 0, 4),
    RW_FIELD(aclrtMemManagedLocation, id, 4, 4),
    RW_FIELD(aclrtMemcpyBatchAttr, dstLoc, 0, 8),
    RW_FIELD(aclrtMemcpyBatchAttr, srcLoc, 8, 8),
    RW_FIELD(aclrtMemcpyBatchAttr, rsv, 16, 16),
    RW_FIELD(aclrtPtrAttributes, location, 0, 8),
    RW_FIELD(aclrtPtrAttributes, pageSize, 8, 4),
    RW_FIELD(aclrtPtrAttributes, rsv, 12, 16),
    RW_FIELD(aclrtMallocAttrValue, moduleId, 0, 2),
    RW_FIELD(aclrtMallocAttrValue, deviceId, 0, 4),
    RW_FIELD(aclrtMallocAttrValue, vaFlag, 0, 4),
    RW_FIELD(aclrtMallocAttrValue, rsv, 0, 8),
    RW_FIELD(aclrtMallocAttribute, attr, 0, 4),
    RW_FIELD(aclrtMallocAttribute, value, 4, 8),
    RW_FIELD(aclrtMallocConfig, attrs, 0, 8),
    RW_FIELD(aclrtMallocConfig, numAttrs, 8, 8),
    RW_FIELD(aclrtMemUsageInfo, name, 0, 32),
    RW_FIELD(aclrtMemUsageInfo, curMemSize, 32, 8),
    RW_FIELD(aclrtMemUsageInfo, memPeakSize, 40, 8),
    RW_FIELD(aclrtMemUsageInfo, reserved, 48, 64),
    RW_FIELD(aclrtPhysicalMemProp, handleType, 0, 4),
    RW_FIELD(aclrtPhysicalMemProp, allocationType, 4, 4),
    RW_FIELD(aclrtPhysicalMemProp, memAttr, 8, 4),
    RW_FIELD(aclrtPhysicalMemProp, location, 12, 8),
    RW_FIELD(aclrtPhysicalMemProp, reserve, 24, 8),
    RW_FIELD(aclrtMemFabricHandle, data, 0, 128),
    RW_FIELD(aclrtMemAccessDesc, flags, 0, 4),
    RW_FIELD(aclrtMemAccessDesc, location, 4, 8),
    RW_FIELD(aclrtMemAccessDesc, rsv, 12, 12),
    RW_FIELD(aclrtServerPid, sdid, 0, 4),
    RW_FIELD(aclrtServerPid, pid, 8, 8),
    RW_FIELD(aclrtServerPid, num, 16, 8),
    RW_FIELD(aclrtMemPoolProps, allocType, 0, 4),
    RW_FIELD(aclrtMemPoolProps, handleType, 4, 4),
    RW_FIELD(aclrtMemPoolProps, location, 8, 8),
    RW_FIELD(aclrtMemPoolProps, maxSize, 16, 8),
    RW_FIELD(aclrtMemPoolProps, reserved, 24, 32),
    RW_FIELD(aclrtBarrierCmoInfo, cmoType, 0, 4),
    RW_FIELD(aclrtBarrierCmoInfo, barrierId, 4, 4),
    RW_FIELD(aclrtBarrierTaskInfo, barrierNum, 0, 8),
    RW_FIELD(aclrtBarrierTaskInfo, cmoInfo, 8, 48),
    RW_FIELD(aclrtMemUceInfo, addr, 0, 8),
    RW_FIELD(aclrtMemUceInfo, len, 8, 8),
    RW_FIELD(aclrtMemUceInfo, reserved, 16, 112),
    RW_FIELD(aclrtMemUceInfoArray, arraySize, 0, 8),
    RW_FIELD(aclrtMemUceInfoArray, memUceInfoArray, 8, 2560),
    RW_FIELD(aclmdlRIValueWriteTaskParams, devAddr, 0, 8),
    RW_FIELD(aclmdlRIValueWriteTaskParams, value, 8, 8),
    RW_FIELD(aclmdlRIValueWaitTaskParams, devAddr, 0, 8),
    RW_FIELD(aclmdlRIValueWaitTaskParams, value, 8, 8),
    RW_FIELD(aclmdlRIValueWaitTaskParams, flag, 16, 4),
    RW_FIELD(MemAttrMapping, pgType, 0, 4),
    RW_FIELD(MemAttrMapping, memType, 4, 4),
    RW_FIELD(MemAttrMapping, isHostAlloc, 8, 1),
    RW_FIELD(MemAttrMapping, memAttr, 12, 4),
};

RW_FIELD_TYPE(aclrtMemLocation, id, uint32_t);
RW_FIELD_TYPE(aclrtMemLocation, type, aclrtMemLocationType);
RW_FIELD_TYPE(aclrtMemManagedLocation, type, aclrtMemManagedLocationType);
RW_FIELD_TYPE(aclrtMemManagedLocation, id, int32_t);
RW_FIELD_TYPE(aclrtMemcpyBatchAttr, dstLoc, aclrtMemLocation);
RW_FIELD_TYPE(aclrtMemcpyBatchAttr, srcLoc, aclrtMemLocation);
RW_FIELD_TYPE(aclrtMemcpyBatchAttr, rsv, uint8_t[16]);
RW_FIELD_TYPE(aclrtPtrAttributes, location, aclrtMemLocation);
RW_FIELD_TYPE(aclrtPtrAttributes, pageSize, uint32_t);
RW_FIELD_TYPE(aclrtPtrAttributes, rsv, uint32_t[4]);
RW_FIELD_TYPE(aclrtMallocAttrValue, moduleId, uint16_t);
RW_FIELD_TYPE(aclrtMallocAttrValue, deviceId, uint32_t);
RW_FIELD_TYPE(aclrtMallocAttrValue, vaFlag, uint32_t);
RW_FIELD_TYPE(aclrtMallocAttrValue, rsv, uint8_t[8]);
RW_FIELD_TYPE(aclrtMallocAttribute, attr, aclrtMallocAttrType);
RW_FIELD_TYPE(aclrtMallocAttribute, value, aclrtMallocAttrValue);
RW_FIELD_TYPE(aclrtMallocConfig, attrs, aclrtMallocAttribute*);
RW_FIELD_TYPE(aclrtMallocConfig, numAttrs, size_t);
RW_FIELD_TYPE(aclrtMemUsageInfo, name, char[32]);
RW_FIELD_TYPE(aclrtMemUsageInfo, curMemSize, uint64_t);
RW_FIELD_TYPE(aclrtMemUsageInfo, memPeakSize, uint64_t);
RW_FIELD_TYPE(aclrtMemUsageInfo, reserved, size_t[8]);
RW_FIELD_TYPE(aclrtPhysicalMemProp, handleType, aclrtMemHandleType);
RW_FIELD_TYPE(aclrtPhysicalMemProp, allocationType, aclrtMemAllocationType);
RW_FIELD_TYPE(aclrtPhysicalMemProp, memAttr, aclrtMemAttr);
RW_FIELD_TYPE(aclrtPhysicalMemProp, location, aclrtMemLocation);
RW_FIELD_TYPE(aclrtPhysicalMemProp, reserve, uint64_t);
RW_FIELD_TYPE(aclrtMemFabricHandle, data, uint8_t[128]);
RW_FIELD_TYPE(aclrtMemAccessDesc, flags, aclrtMemAccessFlags);
RW_FIELD_TYPE(aclrtMemAccessDesc, location, aclrtMemLocation);
RW_FIELD_TYPE(aclrtMemAccessDesc, rsv, uint8_t[12]);
RW_FIELD_TYPE(aclrtServerPid, sdid, uint32_t);
RW_FIELD_TYPE(aclrtServerPid, pid, int32_t*);
RW_FIELD_TYPE(aclrtServerPid, num, size_t);
RW_FIELD_TYPE(aclrtMemPoolProps, allocType, aclrtMemAllocationType);
RW_FIELD_TYPE(aclrtMemPoolProps, handleType, aclrtMemHandleType);
RW_FIELD_TYPE(aclrtMemPoolProps, location, aclrtMemLocation);
RW_FIELD_TYPE(aclrtMemPoolProps, maxSize, size_t);
RW_FIELD_TYPE(aclrtMemPoolProps, reserved, uint8_t[32]);
RW_FIELD_TYPE(aclrtBarrierCmoInfo, cmoType, aclrtCmoType);
RW_FIELD_TYPE(aclrtBarrierCmoInfo, barrierId, uint32_t);
RW_FIELD_TYPE(aclrtBarrierTaskInfo, barrierNum, size_t);
RW_FIELD_TYPE(aclrtBarrierTaskInfo, cmoInfo, aclrtBarrierCmoInfo[6]);
RW_FIELD_TYPE(aclrtMemUceInfo, addr, void*);
RW_FIELD_TYPE(aclrtMemUceInfo, len, size_t);
RW_FIELD_TYPE(aclrtMemUceInfo, reserved, size_t[14]);
RW_FIELD_TYPE(aclrtMemUceInfoArray, arraySize, size_t);
RW_FIELD_TYPE(aclrtMemUceInfoArray, memUceInfoArray, aclrtMemUceInfo[20]);
RW_FIELD_TYPE(aclmdlRIValueWriteTaskParams, devAddr, void*);
RW_FIELD_TYPE(aclmdlRIValueWriteTaskParams, value, uint64_t);
RW_FIELD_TYPE(aclmdlRIValueWaitTaskParams, devAddr, void*);
RW_FIELD_TYPE(aclmdlRIValueWaitTaskParams, value, uint64_t);
RW_FIELD_TYPE(aclmdlRIValueWaitTaskParams, flag, uint32_t);
RW_FIELD_TYPE(MemAttrMapping, pgType, uint32_t);
RW_FIELD_TYPE(MemAttrMapping, memType, uint32_t);
RW_FIELD_TYPE(MemAttrMapping, isHostAlloc, bool);
RW_FIELD_TYPE(MemAttrMapping, memAttr, aclrtMemAttr);

RW_HANDLE(aclrtStream);
RW_HANDLE(aclrtEvent);
RW_HANDLE(aclrtContext);
RW_HANDLE(aclrtNotify);
RW_HANDLE(aclrtCntNotify);
RW_HANDLE(aclmdlRI);
RW_HANDLE(aclmdlRITask);
RW_HANDLE(aclrtTaskGrp);
RW_HANDLE(aclmdlRICondHandle);
RW_HANDLE(aclrtDrvMemHandle);
RW_HANDLE(aclrtMemPool);
RW_HANDLE(aclrtAllocator);
RW_HANDLE(aclrtAllocatorDesc);
RW_HANDLE(aclrtAllocatorBlock);
RW_HANDLE(aclrtAllocatorAddr);

void ExpectLayout(const TypeLayout& type) {
  EXPECT_EQ(type.size, type.expected_size) << "size of " << type.name;
  EXPECT_EQ(type.align, type.expected_align) << "alignment of " << type.name;
}

TEST(HeaderLayout, StructuresHaveTheirSizes) {
  for (const TypeLayout& type : kTypes) ExpectLayout(type);
}

TEST(HeaderLayout, EnumerationsAreFourBytes) {
  for (const TypeLayout& type : kEnums) ExpectLayout(type);
}

TEST(HeaderLayout, FieldsAreAtTheirPlaces) {
  for (const FieldLayout& field : kFields) {
    EXPECT_EQ(field.offset, field.expected_offset) << "offset of " << field.name;
    EXPECT_EQ(field.size, field.expected_size) << "size of " << field.name;
  }
}

}  // namespace
