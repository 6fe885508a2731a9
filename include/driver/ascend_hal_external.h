/* Types of queues and ids of hardware. Part of ascend_hal.h. */
#ifndef RW_DRIVER_ASCEND_HAL_EXTERNAL_H
#define RW_DRIVER_ASCEND_HAL_EXTERNAL_H

#include "ascend_hal_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum drvSqCqType_t {
    DRV_NORMAL_TYPE = 0,
    DRV_CALLBACK_TYPE = 1,
    DRV_LOGIC_TYPE = 2,
    DRV_SHM_TYPE = 3,
    DRV_CTRL_TYPE = 4,
    DRV_GDB_TYPE = 5,
    DRV_INVALID_TYPE = 6
} drvSqCqType_t;

typedef enum drvIdType_t {
    DRV_STREAM_ID = 0,
    DRV_EVENT_ID = 1,
    DRV_MODEL_ID = 2,
    DRV_NOTIFY_ID = 3,
    DRV_CMO_ID = 4,
    DRV_CNT_NOTIFY_ID = 5,
    DRV_SQ_ID = 6,
    DRV_CQ_ID = 7,
    DRV_INVALID_ID = 8
} drvIdType_t;

typedef enum drvResourceConfigType_t {
    DRV_STREAM_BIND_LOGIC_CQ = 0,
    DRV_STREAM_UNBIND_LOGIC_CQ = 1,
    DRV_ID_RECORD = 2,
    DRV_STREAM_ENABLE_EVENT = 3,
    DRV_ID_RESET = 4,
    DRV_RES_ID_CONFIG_MAX = 5
} drvResourceConfigType_t;

typedef enum drvSqCqPropType_t {
    DRV_SQCQ_PROP_SQ_STATUS = 0,
    DRV_SQCQ_PROP_SQ_HEAD = 1,
    DRV_SQCQ_PROP_SQ_TAIL = 2,
    DRV_SQCQ_PROP_SQ_DISABLE_TO_ENABLE = 3,
    DRV_SQCQ_PROP_SQ_CQE_STATUS = 4,
    DRV_SQCQ_PROP_SQ_REG_BASE = 5,
    DRV_SQCQ_PROP_SQ_BASE = 6,
    DRV_SQCQ_PROP_SQ_DEPTH = 7,
    DRV_SQCQ_PROP_SQ_PAUSE = 8,
    DRV_SQCQ_PROP_SQ_MEM_ATTR = 9,
    DRV_SQCQ_PROP_SQ_RESUME = 10,
    DRV_SQCQ_PROP_SQCQ_RESET = 11,
    DRV_SQCQ_PROP_CQ_DEPTH = 12,
    DRV_SQCQ_PROP_SQE_SIZE = 13,
    DRV_SQCQ_PROP_CQE_SIZE = 14
} drvSqCqPropType_t;

struct drvNotifyInfo {
    uint32_t tsId;
    uint32_t notifyId;
    uint64_t devAddrOffset;
};

struct halTaskSendInfo {
    drvSqCqType_t type;
    uint32_t tsId;
    uint32_t sqId;
    int32_t timeout;
    uint8_t* sqe_addr;
    uint32_t sqe_num;
    uint32_t pos;
    uint32_t res[8];
};

struct halReportRecvInfo {
    drvSqCqType_t type;
    uint32_t tsId;
    uint32_t cqId;
    int32_t timeout;
    uint8_t* cqe_addr;
    uint32_t cqe_num;
    uint32_t report_cqe_num;
    uint32_t stream_id;
    uint32_t task_id;
    uint32_t res[8];
};

struct halSqCqInputInfo {
    drvSqCqType_t type;
    uint32_t tsId;
    uint32_t sqeSize;
    uint32_t cqeSize;
    uint32_t sqeDepth;
    uint32_t cqeDepth;
    uint32_t grpId;
    uint32_t flag;
    uint32_t cqId;
    uint32_t sqId;
    uint32_t info[5];
    uint32_t ext_info_len;
    void* ext_info;
    uint32_t res[5];
};

struct halSqCqOutputInfo {
    uint32_t sqId;
    uint32_t cqId;
    unsigned long long queueVAddr;
    uint32_t flag;
    uint32_t res[5];
};

struct halSqCqFreeInfo {
    drvSqCqType_t type;
    uint32_t tsId;
    uint32_t sqId;
    uint32_t cqId;
    uint32_t flag;
    uint32_t res[8];
};

struct halSqCqQueryInfo {
    drvSqCqType_t type;
    uint32_t tsId;
    uint32_t sqId;
    uint32_t cqId;
    drvSqCqPropType_t prop;
    uint32_t value[8];
};

struct halSqCqConfigInfo {
    drvSqCqType_t type;
    uint32_t tsId;
    uint32_t sqId;
    uint32_t cqId;
    drvSqCqPropType_t prop;
    uint32_t value[8];
};

struct halResourceIdInputInfo {
    drvIdType_t type;
    uint32_t tsId;
    uint32_t resourceId;
    uint32_t res[8];
};

struct halResourceIdOutputInfo {
    uint32_t resourceId;
    uint32_t res[8];
};

struct halResourceConfigInfo {
    drvResourceConfigType_t prop;
    uint32_t value[7];
};

struct drvResIdKey;
struct event_summary;

#ifdef __cplusplus
}
#endif

#endif /* RW_DRIVER_ASCEND_HAL_EXTERNAL_H */
