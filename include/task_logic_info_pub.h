/*
 * What a transport is told to move, and what a virtual dispatcher notes in a stream instead of doing it. C++.
 */
#ifndef RW_TASK_LOGIC_INFO_PUB_H
#define RW_TASK_LOGIC_INFO_PUB_H

#include "hccl_common.h"

namespace hccl {

/* The two windows of a peer. */
enum class UserMemType { INPUT_MEM = 0, OUTPUT_MEM = 1, MEM_RESERVED = 2 };

struct TxMemoryInfo {
    UserMemType dstMemType;
    u64 dstOffset;
    const void* src;
    u64 len;
};

struct RxMemoryInfo {
    UserMemType srcMemType;
    u64 srcOffset;
    void* dst;
    u64 len;
};

/* One copy that a virtual dispatcher noted. The peer and the link are not kept. */
struct TaskLogicInfo {
    void* dst;
    u64 destMax;
    const void* src;
    u64 count;
};

}  // namespace hccl

#endif /* RW_TASK_LOGIC_INFO_PUB_H */
