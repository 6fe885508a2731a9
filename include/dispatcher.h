/*
 * The dispatcher: copies, reductions and signals queued on a stream, one task record for each, with subgraphs that are recorded
 * and launched later. C++ types, C names. A NULL handle is HCCL_E_PTR everywhere but in HcclDispatcherDestroy.
 */
#ifndef RW_DISPATCHER_H
#define RW_DISPATCHER_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapter_pub.h"
#include "dispatcher_task_types.h"
#include "hccl_common.h"
#include "mem_device_pub.h"
#include "mem_host_pub.h"
#include "stream_pub.h"

enum class DispatcherType {
    DISPATCHER_NORMAL = 0,
    DISPATCHER_VIRTURAL, /* spelt like this */
    DISPATCHER_AICPU
};

/* reduceAttr of HcclReduceAsync, bit by bit. */
constexpr u32 ATTR_POS_INLINE_REDUCE = 0;
constexpr u32 ATTR_POS_SUPPORT_RDMA = 1;
constexpr u32 ATTR_POS_SUPPORT_RDMA_ASYNC = 2;
constexpr u32 ATTR_POS_SUPPORT_RDMA_REDUCE = 3;
constexpr u64 INLINE_REDUCE_BIT = 1;
constexpr u64 INLINE_REDUCE_BITMASK = 1;
constexpr u64 RDMA_REDUCE_BITMASK = 8;

extern "C" {

/* ---- Lifetime and configuration ---- */

/* devicePhyId: a physical id, or HOST_DEVICE_ID. AICPU is for the device side: HCCL_E_NOT_SUPPORT. */
RW_API HcclResult HcclDispatcherInit(DispatcherType type, const s32 devicePhyId, HcclDispatcher* dispatcher);
/* Waits for nothing; NULL is success. */
RW_API HcclResult HcclDispatcherDestroy(HcclDispatcher dispatcher);
RW_API HcclResult HcclDispatcherAicpuInit(HcclDispatcher* dispatcher, const u32 devPhyId, uint32_t hcclQos,
                                          DispatcherType type = DispatcherType::DISPATCHER_AICPU);
/* Appends the address of the overflow flag on devices that have one; none of ours does. */
RW_API HcclResult HcclSetGlobalWorkSpace(HcclDispatcher dispatcher, std::vector<void*>& globalWorkSpaceAddr);
RW_API HcclResult HcclSetNotifyWaitMode(HcclDispatcher dispatcher, const SyncMode notifyWaitMode);
RW_API HcclResult HcclGetNotifyWaitMode(HcclDispatcher dispatcher, SyncMode* notifyWaitMode);
/* Seconds that a wait for a signal may take in the configurable mode. */
RW_API HcclResult HcclSetExecTimeOut(HcclDispatcher dispatcher, s32 execTimeOut = NOTIFY_DEFAULT_WAIT_TIME);
RW_API HcclResult SetMultiQpMode(HcclDispatcher dispatcher, bool multiQpMode);
/* Drops what is recorded; calls take effect at once again. */
RW_API HcclResult SetNormalMode(HcclDispatcher dispatcher);
RW_API HcclResult HcclGetCallbackResult(HcclDispatcher dispatcher);

/* ---- Copies and reductions ---- */

/*
 * count bytes, in the order of the stream; pieces of 4 GiB. remoteUserRank and linkType are only recorded. A stream without a
 * handle makes this a host copy during the call, bounded by destMax.
 */
RW_API HcclResult HcclMemcpyAsync(HcclDispatcher dispatcherPtr, void* dst, const uint64_t destMax, const void* src, const uint64_t count,
                                  const HcclRtMemcpyKind kind, hccl::Stream& stream, const u32 remoteUserRank, hccl::LinkType linkType);

/* src.size() bytes. A destination that is too small: HCCL_E_PTR. Recorded between InitTask and LaunchTask. */
RW_API HcclResult HcclD2DMemcpyAsync(HcclDispatcher dispatcherPtr, hccl::DeviceMem& dst, const hccl::DeviceMem& src, hccl::Stream& stream,
                                     u32 remoteUserRank = INVALID_VALUE_RANKID, hccl::LinkType inLinkType = hccl::LinkType::LINK_ONCHIP);

/* dst = dst op src for count ELEMENTS. Mind the order of src and dst. */
RW_API HcclResult HcclReduceAsync(HcclDispatcher dispatcherPtr, void* src, uint64_t count, const HcclDataType datatype,
                                  const HcclReduceOp reduceOp, hccl::Stream& stream, void* dst, const u32 remoteUserRank,
                                  const hccl::LinkType linkType, const u64 reduceAttr);

/* For the device side: a dispatcher of the host succeeds and does nothing. */
RW_API HcclResult HcclDispatcherWaitValue(HcclDispatcher dispatcher, hccl::Stream& stream, u64 waitAddr, u64 valueAddr, bool reset);
RW_API HcclResult HcclDispatcherWriteValue(HcclDispatcher dispatcher, hccl::Stream& stream, u64 writeAddr, u64 valueAddr);

/* ---- Signals: notifies of the runtime. A wait consumes the signal ---- */

RW_API HcclResult HcclSignalRecord(HcclDispatcher dispatcherPtr, HcclRtNotify signal, hccl::Stream& stream, u32 userRank, u64 offset,
                                   s32 stage, bool inchip, u64 signalAddr);
RW_API HcclResult HcclSignalWait(HcclDispatcher dispatcherPtr, HcclRtNotify signal, hccl::Stream& stream, u32 userRank, u32 remoteUserRank,
                                 s32 stage, bool inchip);

/* ---- Recording and callbacks ---- */

/* From here on D2D copies, reductions and signals of this dispatcher are recorded. An empty key: not reused. */
RW_API HcclResult InitTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream, const bool enableCache, const std::string& key,
                           bool useGraphConstructorV2 = false);
/* Queues what was recorded behind the work of `stream`; the recording ends. */
RW_API HcclResult LaunchTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream);
RW_API HcclResult LaunchTaskExtend(HcclDispatcher dispatcherPtr, hccl::Stream& stream, std::vector<hccl::Stream>& subStreams);
RW_API HcclResult AddRetryPreamble(HcclDispatcher dispatcherPtr, hccl::Stream& stream);
/* Does NOT wait: on the host it succeeds and does nothing. */
RW_API HcclResult StreamSync(HcclDispatcher dispatcherPtr, hccl::Stream& stream);

/* One for the process; NULL takes it away. */
RW_API void RegisterInitTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&));
RW_API void RegisterLaunchTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&));
/* One per dispatcher: p1(userPtr, hccl::TaskPara*, sizeof) on the caller's thread, after each piece was queued. Copy it. */
RW_API HcclResult RegisterLoadTaskCallBack(HcclDispatcher dispatcherPtr, void* userPtr, void (*p1)(void* userPtr, void* param, u32 length));
/* Whether TaskPara::beginTime is filled in. */
RW_API HcclResult ForceProfOn(HcclDispatcher& dispatcher, bool isForce);

/* For the device side: HCCL_E_INTERNAL on the host. */
RW_API HcclResult HcclSetOpExecStatusCallback(HcclDispatcher dispatcherPtr, std::function<HcclResult()> callback);
RW_API HcclResult HcclSetSqeTimeOut(HcclDispatcher dispatcherPtr, const u64 timeOut);
RW_API HcclResult HcclSetSqFullWaitTimeOut(HcclDispatcher dispatcherPtr, const u64 timeOut);
RW_API HcclResult HcclSetOpRingBufferIdx(HcclDispatcher dispatcherPtr, const u32 opRingBufferIdx);

/* ---- Gone from the newest releases ---- */

RW_API HcclResult HcclSetQosCfg(HcclDispatcher dispatcherPtr, const u32 qosCfg);
RW_API HcclResult HcclResetQosCfg(HcclDispatcher dispatcherPtr);
/* INVALID_QOSCFG when none is set. */
RW_API HcclResult HcclGetQosCfg(HcclDispatcher dispatcherPtr, u32* qosCfg);
/* Whether a recording is open. */
RW_API HcclResult IsCtxInitialized(HcclDispatcher dispatcherPtr, bool* ctxInitFlag);

}  // extern "C"

namespace hccl {
class ProfilerManager;
}

/* The older form: a logical id, and a profiler that nobody looks at. */
RW_API HcclResult HcclDispatcherInit(DispatcherType type, const s32 deviceLogicId,
                                     const std::shared_ptr<hccl::ProfilerManager>& profilerManager, HcclDispatcher* dispatcher);

#endif /* RW_DISPATCHER_H */
