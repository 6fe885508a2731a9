/*
 * The runtime API: devices, contexts, streams, events, memory, copies, capture. All functions have C linkage and may
 * be called from any thread. They return 0 or a code: 100000 where the call itself refuses an argument, 107000 and up
 * where the runtime does. Outputs are written on success only, unless a line below says otherwise.
 */
#ifndef RW_ACL_RT_H
#define RW_ACL_RT_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"
#include "detail/api_macros.h"
#include "detail/rt_core_types.h"
#include "detail/rt_memory_types.h"
#include "detail/rt_model_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Start and end of the library, versions. Nothing else needs aclInit: calls work without it. ---- */

/* Starts the library and counts. A repeated call counts too and answers 100002. configPath: a JSON file, or NULL. */
RW_API aclError aclInit(const char* configPath);

/* Undoes all aclInit calls at once. A second call in a row: 100037. */
RW_API aclError aclFinalize(void);

/* Undoes one aclInit; *refCount (may be NULL) gets what is left, also on failure. Nothing to undo: 100037. */
RW_API aclError aclFinalizeReference(uint64_t* refCount);

/* Version of a package under ASCEND_HOME_PATH. No such package: 100003. */
RW_API aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);

/* The same as text (at most ACL_PKG_VERSION_MAX_SIZE bytes) and as one number. */
RW_API aclError aclsysGetVersionStr(char* pkgName, char* versionStr);
RW_API aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum);

/* 1, 17, 0. Any NULL: 100000. */
RW_API aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion);

/* ---- Callbacks around initialise and finalise, process-wide options. ---- */

/* Options of the process; one never set reads 0. */
RW_API aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
RW_API aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/* Called inside aclInit; at once when the library is up. One callback per type, any number of ACL_REG_TYPE_OTHER. */
RW_API aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void* userData);
RW_API aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc);

/* Called when the library goes down. */
RW_API aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void* userData);
RW_API aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc);

/* ---- Devices. An id is an index among the visible devices; an id out of range is 107001 unless stated. ---- */

/* Makes the device's default context current on this thread and adds 1 to the device's count, on every call. */
RW_API aclError aclrtSetDevice(int32_t deviceId);

/* Takes 1 from the count; at 0 the default context and its streams end. Count already 0: 507007. */
RW_API aclError aclrtResetDevice(int32_t deviceId);

/* The same with the count dropped to 0 in one go. */
RW_API aclError aclrtResetDeviceForce(int32_t deviceId);

/* The device of the current context. None: 107002. */
RW_API aclError aclrtGetDevice(int32_t* deviceId);

/* ACL_HOST here. Needs no device. */
RW_API aclError aclrtGetRunMode(aclrtRunMode* runMode);

/* Waits for all streams of the current context and returns the first error found. A stream under capture: 107027. */
RW_API aclError aclrtSynchronizeDevice(void);

/* Milliseconds, -1 is forever, 0 is refused with 107000. Time is up: 507046, the work goes on. */
RW_API aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/* Accepted for 0 and 1, without effect. */
RW_API aclError aclrtSetTsDevice(aclrtTsId tsId);

/* Percentages, -1 where unknown, also for a device that does not exist. */
RW_API aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo);

/* Number of visible devices. None: 207004. */
RW_API aclError aclrtGetDeviceCount(uint32_t* count);

/* Core groups. */
RW_API aclError aclrtSetGroup(int32_t groupId);
RW_API aclError aclrtGetGroupCount(uint32_t* count);
RW_API aclrtGroupInfo* aclrtCreateGroupInfo(void);
RW_API aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo);
RW_API aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo);
RW_API aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t groupIndex, aclrtGroupAttr attr, void* attrValue,
                                        size_t valueLen, size_t* paramRetSize);

/* 1 or 0 for two different devices. canAccessPeer NULL: 107000. */
RW_API aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId);

/* From the current device to the peer, this direction only. flags not 0: 200006. */
RW_API aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/* Ends it; no counting. */
RW_API aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/* 1 when on, for the direction deviceId to peerDeviceId. */
RW_API aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status);

/* Overflow behaviour of floating point kernels. */
RW_API aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);
RW_API aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);

/* Normal or abnormal. */
RW_API aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus);

/* One number about the device. An unknown device: 107000. */
RW_API aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);

/* Least 7, greatest 0. NULL outputs are skipped. */
RW_API aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority);

/* ACL_DEV_FEATURE_SUPPORT or ACL_DEV_FEATURE_NOT_SUPPORT. */
RW_API aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t* value);

/* 16 bytes that name the device. */
RW_API aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);

/* Sizes of stacks and print buffers, for devices brought up later. Unknown limit: 100000. */
RW_API aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);
RW_API aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value);

/* Text dddd:bb:dd.f in a buffer of at least 13 bytes (else 107000), and the way back. */
RW_API aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len);
RW_API aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId);

/* Which atomic operations work towards host memory, and between two devices. */
RW_API aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations, const uint32_t count,
                                                     int32_t deviceId);
RW_API aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations, const uint32_t count,
                                                    int32_t srcDeviceId, int32_t dstDeviceId);

/* Core limits for kernels; copies do not care. */
RW_API aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value);
RW_API aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value);
RW_API aclError aclrtResetDeviceResLimit(int32_t deviceId);

/* How two devices are linked: one ACL_RT_DEVS_TOPOLOGY bit. */
RW_API aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value);

/* User id: index among visible devices. Logic id: before that filter. Physical id: on the bare machine. */
RW_API aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId);
RW_API aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid);
RW_API aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId);
RW_API aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId);
RW_API aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId);
RW_API aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId);

/* Called around set and reset. A name in use: 107000; a NULL callback removes the name. */
RW_API aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback, void* args);

/* ---- Contexts. A thread has one current context; calls that need one and find none answer 107002. ---- */

/* A new context with its own default stream, made current on this thread. */
RW_API aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/* Ends an explicit context, its streams and models. A default or unknown context: 107002. */
RW_API aclError aclrtDestroyContext(aclrtContext context);

/* Makes a context current on this thread. A dead one: 107000. */
RW_API aclError aclrtSetCurrentContext(aclrtContext context);

/* None: 107002, and NULL is stored. */
RW_API aclError aclrtGetCurrentContext(aclrtContext* context);

/* Options of the current context; one never set: 107021. */
RW_API aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
RW_API aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/* The stream that NULL stands for. Must not be destroyed. */
RW_API aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

/* Whether the device is set by anybody. flags must be NULL. */
RW_API aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);

/* Where kernels leave their overflow flags. */
RW_API aclError aclrtCtxGetFloatOverflowAddr(void** overflowAddr);

/* ---- Streams. NULL is the current context's default stream unless stated; a stale handle is 107017. ---- */

/* ACL_STOP_ON_FAILURE switches the whole context to stop at its first error, and cannot be taken back (207000). */
RW_API aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/* Id of the last task this thread submitted; 0xFFFFFFFF before the first. */
RW_API aclError aclrtGetThreadLastTaskId(uint32_t* taskId);

/* Id of the stream. */
RW_API aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);

/* Settings for aclrtCreateStreamV2. */
RW_API aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void);
RW_API aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle);
RW_API aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr, const void* attrValue,
                                        size_t valueSize);
RW_API aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle);

/* Priority 0, no flags. */
RW_API aclError aclrtCreateStream(aclrtStream* stream);

/* Priority 0 (highest) to 7, clamped; ACL_STREAM flags, of which unknown ones are dropped. */
RW_API aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);

/* Waits for the queued work, then ends the stream. Errors of that work are not reported. */
RW_API aclError aclrtDestroyStream(aclrtStream stream);

/* Drops what has not started. On return nothing of the stream touches memory any more. */
RW_API aclError aclrtDestroyStreamForce(aclrtStream stream);

/* Waits for the work submitted so far and delivers its error, once. Any context's stream is accepted. */
RW_API aclError aclrtSynchronizeStream(aclrtStream stream);

/* Milliseconds, -1 is forever, 0 is refused with 107000. Time is up: 507046, the work goes on. */
RW_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/* Complete or not ready; never blocks. */
RW_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/* As created, after clamping. */
RW_API aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);
RW_API aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

/* Holds later work of the stream back until the event's latest record is done; the host goes on. */
RW_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/* Seconds, 0 is forever. ACL_EVENT_WAIT_EXTERNAL is for streams under capture. */
RW_API aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag);

/* Seconds, 0 is forever. A wait that takes longer is reported by the next synchronise as 107020. */
RW_API aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout);

/* 0 or 1, else 100000. */
RW_API aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
RW_API aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);

/* Ends what runs, throws away what is queued, returns when done. The stream stays usable. Waiters get 107023. */
RW_API aclError aclrtStreamAbort(aclrtStream stream);

/* Streams that can still be created. */
RW_API aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

/* One member of the union, by attribute. Unknown attribute: 107000. */
RW_API aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value);
RW_API aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value);

/* Core limits for kernels launched on a stream. */
RW_API aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value);
RW_API aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value);
RW_API aclError aclrtResetStreamResLimit(aclrtStream stream);
RW_API aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);
RW_API aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);
RW_API aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

/* Inside models built by hand: start another stream, or choose one by comparing two numbers. */
RW_API aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream);
RW_API aclError aclrtSwitchStream(void* leftValue, aclrtCondition cond, void* rightValue, aclrtCompareDataType dataType,
                                  aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream);

/* Called after creation and before destruction of streams. */
RW_API aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback, void* args);

/* Stops execution and keeps the queue. NULL: 107000. */
RW_API aclError aclrtStreamStop(aclrtStream stream);

/* Empties a PERSISTENT stream. */
RW_API aclError aclrtPersistentTaskClean(aclrtStream stream);

/* ---- Events. A stale handle is 107017. ---- */

/* An event with sync and timestamp. Not for capture. */
RW_API aclError aclrtCreateEvent(aclrtEvent* event);

/* A classic event: its wait is a latch that aclrtResetEvent sets back. */
RW_API aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/* An event whose waits are bound to the record made before them. The one to use, also in capture. */
RW_API aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/* Never blocks. Queued records and waits keep what they need. */
RW_API aclError aclrtDestroyEvent(aclrtEvent event);

/* Marks the work submitted to the stream so far. */
RW_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/* ACL_EVENT_RECORD_EXTERNAL is for streams under capture. */
RW_API aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);

/* Sets a classic event back in stream order. */
RW_API aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/* The record in flight: complete or not. Ex events: 207000. */
RW_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/* The latest record. Mind the numbers: complete is 1 here. */
RW_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

/* The outstanding waits: complete or not. Ex events: 207000. */
RW_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

/* Waits for the latest record; at once when there is none. */
RW_API aclError aclrtSynchronizeEvent(aclrtEvent event);

/* Milliseconds, -1 is forever, 0 is refused with 107000. Time is up: 507047. */
RW_API aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/* Milliseconds between two records, negative when in reverse. Not complete or without timestamp: 107006. */
RW_API aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/* Microseconds on the device's clock. */
RW_API aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/* Number of the event's current resource. None: 507000. */
RW_API aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);
RW_API aclError aclrtGetEventAvailNum(uint32_t* eventCount);

/* 64 bytes for another process. The event must have been made with ACL_EVENT_IPC alone (else 107000). */
RW_API aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle);
RW_API aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event);

/* ---- Notifies: one record releases one wait. Counting notifies compare a 32-bit number. ---- */

/* flag: ACL_NOTIFY_DEFAULT or ACL_NOTIFY_DEVICE_USE_ONLY, else 107000. */
RW_API aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);
RW_API aclError aclrtDestroyNotify(aclrtNotify notify);

/* Sets the flag in stream order. */
RW_API aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/* Waits for the flag and clears it. Seconds, 0 is forever, 0xFFFFFFFF the process-wide limit. */
RW_API aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout);

/* Number of the notify. */
RW_API aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId);

/* Clears several flags, and returns when done. */
RW_API aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num);

/* A key of 65 bytes for another process. Exporting twice: 507000. */
RW_API aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags);

/* A notify of another process: recorded anywhere, waited for only on its own device. */
RW_API aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags);

/* Processes that may import: those of this machine, and of other servers. */
RW_API aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num);
RW_API aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids, size_t num);

/* Counting notifies exist on newer devices only; elsewhere 207000. */
RW_API aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag);
RW_API aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);
RW_API aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo* info);
RW_API aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo* info);
RW_API aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);
RW_API aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId);

/* ---- Host functions in stream order: on a thread of the program, or on one of the library. ---- */

/* Names the thread (pthread_self) that runs the callbacks of a stream. */
RW_API aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/* Runs fn on the stream's subscribed thread. ACL_CALLBACK_BLOCK holds the stream back until fn returned. */
RW_API aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream);

/* To be called in a loop by that thread. Nothing within the time: 507012; thread not subscribed: 107012. */
RW_API aclError aclrtProcessReport(int32_t timeout);

/* Waits for blocking callbacks in flight. */
RW_API aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/* Older names of the three above. */
RW_API aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);
RW_API aclError aclrtProcessHostFunc(int32_t timeout);
RW_API aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);

/* Runs fn in stream order on a thread of the library that has no current context. The stream waits for it. */
RW_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

/* ---- Copies and fills. Size 0 succeeds at once; NULL is 100000, too small a destMax 107000. ---- */

/* Done on return; not ordered with any stream, not even the default one. The direction comes from the addresses. */
RW_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind);

/* Pinned and device memory: queued. Pageable memory: drains the stream, done on return. Host to host: 207000. */
RW_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream);

/* The same as aclrtMemcpyAsync. */
RW_API aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                              aclrtStream stream);

/* Sets bytes; done on return, not ordered with any stream. */
RW_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

/* Device memory in stream order; host memory at once. */
RW_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream);

/* Fills N 32-bit words. */
RW_API aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N);
RW_API aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream);

/* height rows of width bytes. width above a pitch: 100000; above 5000000, or height above 5242880: 107000. */
RW_API aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind);
RW_API aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                                   aclrtMemcpyKind kind, aclrtStream stream);

/* Device variables. There is no kernel compiler here: 107043 behind the argument checks. */
RW_API aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count, size_t offset, aclrtMemcpyKind kind);
RW_API aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol, size_t count, size_t offset, aclrtMemcpyKind kind,
                                           aclrtStream stream);
RW_API aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, aclrtMemcpyKind kind);
RW_API aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset, aclrtMemcpyKind kind,
                                         aclrtStream stream);

/* Size of a descriptor. All three calls take ACL_MEMCPY_INNER_DEVICE_TO_DEVICE only, else 207000. */
RW_API aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize);

/* Writes a descriptor (64-byte aligned, in device memory) at once. At most 4 GiB. */
RW_API aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count, void* config);

/* Queues the copy; the descriptor is read when the task runs. A NULL stream: 100000. */
RW_API aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream);

/* dst and src are device cells that hold the addresses; they are read when the task runs. */
RW_API aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset, const void** src, size_t count,
                                           size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream);

/* dst = dst op src in stream order. count in bytes; reserve must be NULL. */
RW_API aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind, aclDataType type, aclrtStream stream,
                                 void* reserve);

/* All host to device, or all device to host; at most 4096 items. *failIndex: the item at fault, or SIZE_MAX. */
RW_API aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                 size_t* attrsIndexes, size_t numAttrs, size_t* failIndex);

/* The same without failIndex. */
RW_API aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                   aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs);

/* attrs[k] holds for the items from attrsIndexes[k] on. Items before the one at fault may have been issued. */
RW_API aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                      aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                                      aclrtStream stream);

/* The same without failIndex. */
RW_API aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                        aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, aclrtStream stream);

/* ---- Device memory, queries, managed memory, cache operations, value write and wait. ---- */

/* At least 64-byte aligned, not initialised, on the current device. Size 0: 100000; out of memory: 207001. */
RW_API aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/* The same without padding behind the block. */
RW_API aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/* Through the device's cache: the same as aclrtMalloc here. */
RW_API aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/* With attributes. Allowed: RSV, MODULE_ID, DEVICE_ID (of the current device), else 107000. */
RW_API aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg);
RW_API aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg);

/* Frees at once; queued copies keep the bytes until they ran. Not the start of a live block: 107000. */
RW_API aclError aclrtFree(void* devPtr);

/* Synchronises the device first; when that fails, nothing is freed. */
RW_API aclError aclrtFreeWithDevSync(void* devPtr);

/* Where an address lives; pageable host memory is ACL_MEM_LOCATION_TYPE_UNREGISTERED. Needs no context. */
RW_API aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

/* Cache operations: no data effect here. */
RW_API aclError aclrtMemFlush(void* devPtr, size_t size);
RW_API aclError aclrtMemInvalidate(void* devPtr, size_t size);

/* One address for host and device. flag must be ACL_RT_MEM_ATTACH_GLOBAL. */
RW_API aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag);

/* Hints about the use of a managed range. */
RW_API aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                                      aclrtMemManagedLocation location);

/* What was advised for a managed range. */
RW_API aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size, void* data, size_t dataSize);
RW_API aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes, const void* ptr, size_t size,
                                        void** data, size_t* dataSizes);

/* Moves a managed range, or several, towards a place in stream order. */
RW_API aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags,
                                             aclrtStream stream);
RW_API aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count, aclrtMemManagedLocation* prefetchLocs,
                                                  size_t* prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream);

/* Device variables: 107043 behind the argument checks. */
RW_API aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr);
RW_API aclError aclrtGetSymbolSize(const void* symbol, size_t* size);

/* Free and total bytes of the current device. Unknown attribute: 107016. */
RW_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/* Use by module, largest first. */
RW_API aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum, size_t* outputNum);

/* Cache maintenance: an ordered step without data effect. */
RW_API aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream);
RW_API aclError aclrtCmoAsyncWithBarrier(void* src, size_t size, aclrtCmoType cmoType, uint32_t barrierId, aclrtStream stream);
RW_API aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream stream, uint32_t flag);
RW_API aclError aclrtCmoGetDescSize(size_t* size);
RW_API aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size);
RW_API aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void* reserve);

/* Stores 64 bits in stream order. */
RW_API aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream);

/* Holds the stream back until the 64 bits at devAddr meet the condition (ACL_STREAM_WAIT_VALUE_...). */
RW_API aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream);

/* *checkResult is 1 when every address has one of the types. */
RW_API aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType, uint32_t* checkResult, uint32_t reserve);

/* Start and reserved size of the block around ptr; either output may be NULL. */
RW_API aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize);

/* A hint that a peer will use the memory. */
RW_API aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags);

/* rsv must be NULL. Not available here: 207000. */
RW_API aclError aclrtDeviceL2CacheFlush(void* rsv);

/* ---- Pinned and registered host memory. ---- */

/* Pinned, at least 64-byte aligned, for all devices of the process. Size 0: 100000; out of memory: 207001. */
RW_API aclError aclrtMallocHost(void** hostPtr, size_t size);

/* With attributes. Allowed: MODULE_ID, VA_FLAG, else 107000. */
RW_API aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg);

/* Frees at once; queued copies keep the bytes until they ran. Not the start of a live block: 107000. */
RW_API aclError aclrtFreeHost(void* hostPtr);

/* Synchronises the device first; when that fails, nothing is freed. */
RW_API aclError aclrtFreeHostWithDevSync(void* hostPtr);

/* Makes host memory known for mapping; the bytes then count as pinned. Registered already: 507910. */
RW_API aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr);

/* The same by ACL_HOST_REG flags; none or unknown ones: 107000. */
RW_API aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);

/* The device alias of a MAPPED registration; not an address for copies. */
RW_API aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

/* Ends a registration by its start address. Not one: 507911. */
RW_API aclError aclrtHostUnregister(void* ptr);

/* Which unit of the device can use mapped host memory. */
RW_API aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability* capabilities);

/* ---- Virtual memory: reserve, allocate physical, map; unmap, free, release. Sharing of physical memory. ---- */

/* A range of addresses without memory behind. alignment 0. */
RW_API aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags);

/* The same at a given address, in whole GiB. */
RW_API aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags);

/* Refused while something is mapped in it. */
RW_API aclError aclrtReleaseMemAddress(void* virPtr);

/* Memory without an address. Use counted with aclrtMemRetainAllocationHandle. */
RW_API aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags);
RW_API aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/* Puts the whole of a physical block at an address inside a reservation; offset 0. */
RW_API aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags);

/* The same, closed until aclrtMemSetAccess. */
RW_API aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags);

/* Takes a mapping away; the reservation stays. */
RW_API aclError aclrtUnmapMem(void* virPtr);

/* A number for another process, which must be on the pid list unless flags is 1. */
RW_API aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                                uint64_t* shareableHandle);

/* shareableHandle: uint64_t for DEFAULT, aclrtMemFabricHandle for FABRIC. */
RW_API aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                                  void* shareableHandle);

/* Opens it; also switches peer access on, both ways. */
RW_API aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle);
RW_API aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                                    aclrtDrvMemHandle* handle);

/* Processes that may import. */
RW_API aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum);
RW_API aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, int32_t* pid, size_t pidNum);

/* Sizes and addresses of mappings are multiples of this. */
RW_API aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option, size_t* granularity);

/* Opens a mapping for devices or the host. NULL: 107000. */
RW_API aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count);

/* location says for whom, *flag gets the ACL_RT_MEM_ACCESS_FLAGS. */
RW_API aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag);

/* One more use of the physical block behind a mapping. */
RW_API aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);

/* What the block was made from; the memory attribute comes back in its canonical form. */
RW_API aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp* prop);

/* Which link a mapping uses. */
RW_API aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx);
RW_API aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink);

/* ---- Device memory shared between processes by key. ---- */

/* The process id to put on the lists of exporters. */
RW_API aclError aclrtDeviceGetBareTgid(int32_t* pid);

/* A key of 65 bytes for a range inside one device block. */
RW_API aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags);

/* Closes an import of this process, otherwise the export. */
RW_API aclError aclrtIpcMemClose(const char* key);

/* Another process's block at an address of its own. Caller not on the list: 207006; unknown key: 107000. */
RW_API aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);

/* Processes that may import; which link they use. */
RW_API aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);
RW_API aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr);
RW_API aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num);

/* ---- Errors: last code, text, exception callbacks, repair. ---- */

/* Takes the texts of this thread's errors, newest first; NULL when none. Valid until the next call on this thread. */
RW_API const char* aclGetRecentErrMsg(void);

/* Code of this thread's last failure in the runtime layer; codes of the 100000 series are not kept. */
RW_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/* The same, and sets it back to 0. */
RW_API aclError aclrtGetLastError(aclrtLastErrLevel level);

/* Called on a thread of the library when a task fails. One slot here, a set below. */
RW_API aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);
RW_API aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);
RW_API aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/* Readers for use inside the callback; 0xFFFFFFFF for NULL. */
RW_API uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);
RW_API uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);
RW_API uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);
RW_API uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);
RW_API uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);
RW_API aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info, void** devArgsPtr, uint32_t* devArgsLen);
RW_API aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info, aclrtFuncHandle* func);
RW_API aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void* userData);

/* Memory faults: query and repair. */
RW_API aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize, size_t* retSize);
RW_API aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize);

/* What a device reports about its last fault, and an attempt to repair it. */
RW_API aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo);
RW_API aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo);

/* ---- Time limits, abort callback, overflow state. ---- */

/* Seconds, 0 is forever: limit of later stream-side waits that name none. */
RW_API aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/* Time limit of kernels: seconds, milliseconds, microseconds. */
RW_API aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);
RW_API aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);
RW_API aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout);
RW_API aclError aclrtGetOpTimeOutInterval(uint64_t* interval);
RW_API aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs);

/* Overflow flags of kernels. */
RW_API aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream);
RW_API aclError aclrtResetOverflowStatus(aclrtStream stream);
RW_API aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream);
RW_API aclError aclrtResetFloatOverflowStatus(aclrtStream stream);
RW_API aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t checkMode, aclrtStream stream);
RW_API aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream);

/* Ends everything that runs or is queued on a device. Milliseconds, 0 is forever; waits return 107022 meanwhile. */
RW_API aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

/* Called before and after such an abort. */
RW_API aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback, void* args);

/* ---- Models: capture of streams, replay, update, conditions. ---- */

/* From now on work on the stream is stored, not run. */
RW_API aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/* Whether the stream is under capture, and for which model; either output may be NULL. */
RW_API aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI);

/* Ends the capture on the stream that began it; *modelRI is NULL when it failed and was discarded. */
RW_API aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

/* Swaps the thread's own mode, which decides what it may do while a capture runs. */
RW_API aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/* Queues one replay. Memory is read and written as it is then. */
RW_API aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/* For models built by hand. Milliseconds. */
RW_API aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/* For models built by hand. */
RW_API aclError aclmdlRIAbort(aclmdlRI modelRI);

/* Waits up to 10 s for a running replay, then 107037. */
RW_API aclError aclmdlRIDestroy(aclmdlRI modelRI);

/* Groups of captured kernels whose arguments can be replaced later. */
RW_API aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
RW_API aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);
RW_API aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);
RW_API aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* Models built by hand from PERSISTENT streams. */
RW_API aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag);
RW_API aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag);
RW_API aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream);
RW_API aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve);
RW_API aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream);

/* A name (512 bytes are kept) and a number. */
RW_API aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);
RW_API aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);
RW_API aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);

/* Descriptions for people. */
RW_API aclError aclmdlRIDebugPrint(aclmdlRI modelRI);
RW_API aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags);

/* Called when the model is destroyed. */
RW_API aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData);
RW_API aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func);

/* Ask with a NULL array for the number first. Too short an array: 107039. */
RW_API aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream* streams, uint32_t* numStreams);
RW_API aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks, uint32_t* numTasks);
RW_API aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type);
RW_API aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id);

/* Look at and change captured tasks; aclmdlRIUpdate puts changes into force. */
RW_API aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params);
RW_API aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params);
RW_API aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId, aclrtLaunchKernelAttrValue* attrValue);
RW_API aclError aclmdlRITaskDisable(aclmdlRITask task);
RW_API aclError aclmdlRIUpdate(aclmdlRI modelRI);

/* Conditions: sub models that run, repeat or are chosen by a number in device memory. */
RW_API aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
                                         aclmdlRICondHandle* handle);
RW_API aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr);
RW_API aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags);
RW_API aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode);

/* ---- Labels inside a model, and jumps to them. ---- */

RW_API aclError aclrtCreateLabel(aclrtLabel* label);
RW_API aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);
RW_API aclError aclrtDestroyLabel(aclrtLabel label);
RW_API aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num, aclrtLabelList* labelList);
RW_API aclError aclrtDestroyLabelList(aclrtLabelList labelList);
RW_API aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream);

/* ---- Kernels: binaries, functions, arguments, launch. ---- */

/* There is no device code here: what is found, given arguments and launched is a host function of that name (ropeway/kernel.h). */
RW_API aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen);
RW_API aclError aclrtDestroyBinary(aclrtBinary binary);
RW_API aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle);
RW_API aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);
RW_API aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle);
RW_API aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                                  aclrtStream stream);
RW_API aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle);
RW_API aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr, size_t* binSize);
RW_API aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle* funcHandle);
RW_API aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr, size_t* size);
RW_API aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* funcHandle);
RW_API aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr);
RW_API aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize, size_t* aivSize);
RW_API aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize);
RW_API aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t* actualArgsSize);
RW_API aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle);
RW_API aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void* userHostMem,
                                             size_t actualArgsSize);
RW_API aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize, aclrtParamHandle* paramHandle);
RW_API aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle* paramHandle);
RW_API aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize,
                                                    void** bufferAddr);
RW_API aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void* param, size_t paramSize);
RW_API aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                            aclrtArgsHandle argsHandle, void* reserve);
RW_API aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);
RW_API aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name);
RW_API aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle);
RW_API aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName, const char* kernelName,
                                     aclrtFuncHandle* funcHandle);
RW_API aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                                    aclrtLaunchKernelCfg* cfg, aclrtStream stream);
RW_API aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                              void* hostArgs, size_t argsSize, aclrtPlaceHolderInfo* placeHolderArray,
                                              size_t placeHolderNum);
RW_API aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg, void** args);
RW_API aclError aclrtLaunchSIMTKernelWithArgsArray(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
                                                   aclrtLaunchKernelCfg* cfg, void** args);
RW_API aclError aclrtLaunchSIMTKernelWithHostArgs(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
                                                  aclrtLaunchKernelCfg* cfg, void* hostArgs, size_t argsSize,
                                                  aclrtPlaceHolderInfo* placeHolderArray, size_t placeHolderNum);
RW_API aclError aclrtGetHardwareSyncAddr(void** addr);
RW_API aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* taskInfo, const aclrtStream stream, void* reserve);
RW_API aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo* info, aclrtStream execStream);
RW_API aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible);
RW_API aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize);
RW_API aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr, const size_t infoSize);
RW_API aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t* attrValue);
RW_API aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle);
RW_API aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount);
RW_API aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize);
RW_API aclError aclrtFunctionGetAvailDynUbufPerBlock(void* func, uint32_t flags, size_t* dynamicUbufSize);

/* ---- Message buffers. ---- */

RW_API aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf* buf);
RW_API aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t* num);
RW_API aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf);
RW_API aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf* newBuf);
RW_API aclError aclrtGetBufUserData(const aclrtMbuf buf, void* dataPtr, size_t size, size_t offset);
RW_API aclError aclrtSetBufUserData(aclrtMbuf buf, const void* dataPtr, size_t size, size_t offset);
RW_API aclError aclrtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size);
RW_API aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t* len);
RW_API aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len);
RW_API aclError aclrtFreeBuf(aclrtMbuf buf);
RW_API aclError aclrtAllocBuf(aclrtMbuf* buf, size_t size);

/* ---- Data dump. ---- */

RW_API aclError aclmdlInitDump(void);
RW_API aclError aclmdlSetDump(const char* dumpCfgPath);
RW_API aclError aclmdlFinalizeDump(void);

/* ---- Profiling. ---- */

RW_API aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream);

/* ---- Process snapshots. ---- */

RW_API aclError aclrtSnapShotProcessLock(int pid, void* reserve);
RW_API aclError aclrtSnapShotProcessUnlock(int pid, void* reserve);
RW_API aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs* args);
RW_API aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs* args);
RW_API aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void* args);
RW_API aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_RT_H */
