/*
 * What the dispatcher says about each task that it queues: the argument of a load-task callback. C++.
 */
#ifndef RW_DISPATCHER_TASK_TYPES_H
#define RW_DISPATCHER_TASK_TYPES_H

#include "hccl_common.h"

namespace hccl {

/*
 * How the peer of a task is reached. A label: no call routes by it. Compare by name; the number of LINK_RESERVED was 7 once.
 */
enum class LinkType {
    LINK_ONCHIP = 0,
    LINK_HCCS = 1,
    LINK_PCIE = 2,
    LINK_ROCE = 3,
    LINK_SIO = 4,
    LINK_HCCS_SW = 5,
    LINK_STANDARD_ROCE = 6,
    LINK_UB = 7,
    LINK_RESERVED = 255
};

enum class TransportType {
    TRANS_TYPE_IBV_EXP = 0,
    TRANS_TYPE_P2P = 1,
    TRANS_TYPE_DEVICE_P2P = 2,
    TRANS_TYPE_DEVICE_IBVERBS = 3,
    TRANS_TYPE_DEVICE_DIRECT = 4,
    TRANS_TYPE_RESERVED = 255
};

enum class RdmaType { RDMA_SEND_NOTIFY = 0, RDMA_SEND_PAYLOAD = 1, RDMA_TYPE_RESERVED = 255 };

enum class TaskType {
    TASK_SDMA = 0,
    TASK_RDMA = 1,
    TASK_REDUCE_INLINE = 2,
    TASK_REDUCE_TBE = 3,
    TASK_NOTIFY_RECORD = 4,
    TASK_NOTIFY_WAIT = 5,
    TASK_HOST = 6,
    TASK_GRAPH_LAUNCH = 7,
    TASK_BATCH_REPORT = 8,
    TASK_FLIP = 9
};

enum class ProfilerType { TASK_PROFILING = 0, TASK_EXCEPTION = 1, TASK_OVERFLOW = 2, TASK_ALL = 3, TASK_RESERVE = 4 };

struct TaskParaDMA {
    const void* src;
    const void* dst;
    u64 size; /* bytes of this piece */
    u64 notifyID;
    LinkType linkType;
    u32 remoteUserRank; /* a world rank */
    RdmaType rdmaType;
    u32 ctxId;
};

struct TaskParaReduce {
    const void* src;
    const void* dst;
    u64 size; /* bytes of this piece */
    HcclReduceOp op;
    HcclDataType dataType;
    LinkType linkType;
    u32 remoteUserRank;
    u32 ctxId;
};

struct TaskParaNotify {
    u64 notifyID; /* rank in the upper half, offset in the lower one */
    s32 stage;
    u32 remoteUserRank;
    u32 ctxId;
};

/* `type` says which member of the union is set. */
struct TaskPara {
    TaskType type;
    ProfilerType profilerType;
    void* stream;
    bool isMainStream;
    bool isFftsDispatcher;
    u64 beginTime; /* a cycle stamp shared by all pieces of a call; 0 when profiling is off */
    union {
        TaskParaDMA dma;
        TaskParaReduce reduce;
        TaskParaNotify notify;
    };
};

}  // namespace hccl

#endif /* RW_DISPATCHER_TASK_TYPES_H */
