/*
 * Thin names over the runtime: directions of a copy, and the copies and waits that operator code calls without a dispatcher.
 * C++. A refusal of the runtime is HCCL_E_RUNTIME; aclGetRecentErrMsg has its text.
 */
#ifndef RW_ADAPTER_RTS_COMMON_H
#define RW_ADAPTER_RTS_COMMON_H

#include "hccl_common.h"

enum HcclRtMemcpyKind : int {
    HCCL_RT_MEMCPY_KIND_HOST_TO_HOST = 0,
    HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE = 1,
    HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST = 2,
    HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE = 3,
    HCCL_RT_MEMCPY_ADDR_DEVICE_TO_DEVICE = 4, /* second-level addresses: no copy of the dispatcher takes it */
    HCCL_RT_MEMCPY_KIND_RESERVED = 5
};

enum HcclReduceType : int { HCCL_INLINE_REDUCE = 0, HCCL_TBE_REDUCE = 1 };

/* NULL dst or src: HCCL_E_PTR; count 0: success; a kind without a direction: HCCL_E_PARA. */
RW_API HcclResult hrtMemSyncCopy(void* dst, uint64_t destMax, const void* src, uint64_t count, HcclRtMemcpyKind kind);

/* The same in the order of `stream`; NULL stands for the default stream, as in the runtime. One call, one task: no splitting. */
RW_API HcclResult hrtMemAsyncCopy(void* dst, uint64_t destMax, const void* src, uint64_t count, HcclRtMemcpyKind kind, rtStream_t stream);

/* Waits for all work of `stream`. timeout in seconds: HCCL_E_TIMEOUT when it passes. NULL: HCCL_E_PTR. */
RW_API HcclResult hcclStreamSynchronize(HcclRtStream stream, s32 timeout = NOTIFY_DEFAULT_WAIT_TIME);

#endif /* RW_ADAPTER_RTS_COMMON_H */
