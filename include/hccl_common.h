/*
 * What the dispatcher's headers share: handles, "not set" values, time-outs. C++.
 */
#ifndef RW_HCCL_COMMON_H
#define RW_HCCL_COMMON_H

#include "hccl/base.h"
#include "hccl/hccl_types.h"

using HcclDispatcher = void*;
using HcclRtStream = void*;
using HcclRtNotify = void*;
using HcclRtEvent = void*;
using HcclRtContext = void*;

constexpr u32 INVALID_UINT = 0xFFFFFFFFu;
constexpr u32 INVALID_VALUE_RANKID = INVALID_UINT;
constexpr u32 INVALID_VALUE_RANKSIZE = INVALID_UINT;
constexpr u32 INVALID_QOSCFG = INVALID_UINT;
constexpr u64 INVALID_U64 = ~0ULL;
constexpr s32 INVALID_INT = -1;
constexpr s32 INVALID_VALUE_STAGE = -1;
constexpr s32 HOST_DEVICE_ID = -1;
constexpr u64 SYS_MAX_COUNT = 0x7FFFFFFFFULL; /* elements of one operator */
constexpr char HCCL_WORLD_GROUP[] = "hccl_world_group";

/* Seconds. The last one is the maximum of this product. */
constexpr s32 NOTIFY_DEFAULT_WAIT_TIME = 27 * 68;
constexpr s32 NOTIFY_MAX_WAIT_TIME = 255 * 68;
constexpr s32 NOTIFY_MAX_WAIT_TIME_910_73 = 2147483647;

/* One queued copy or reduction carries at most this much. */
constexpr u64 HCCL_SDMA_MAX_COUNT_4GB = 0x100000000ULL;

enum SyncMode : int { DEFAULT_TIMEWAITSYNCMODE = 0, CONFIGURABLE_TIMEWAITSYNCMODE = 1, UNLIMITED_TIMEWAITSYNCMODE = 2 };

enum HcclWorkflowMode : int {
    HCCL_WORKFLOW_MODE_OPS_KERNEL_INFO_LIB = 0,
    HCCL_WORKFLOW_MODE_OP_BASE = 1,
    HCCL_WORKFLOW_MODE_RESERVED = 255
};

enum LinkTypeInServer : int { HCCS_TYPE = 0, PXI_TYPE = 1, SIO_TYPE = 2, HCCS_SW_TYPE = 3, RESERVED_LINK_TYPE = 4 };

#endif /* RW_HCCL_COMMON_H */
