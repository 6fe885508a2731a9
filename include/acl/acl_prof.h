/*
 * Programs that profile themselves. aclprofStart makes a folder PROF_... under the path of aclprofInit, with tables of calls, tasks, memory
 * and marks in it; docs/profiling.md says what is true there and what has no meaning on this machine.
 */
#ifndef RW_ACL_PROF_H
#define RW_ACL_PROF_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt.h"
#include "detail/api_macros.h"

#define MSVP_PROF_API RW_API

/* What to collect. */
#define ACL_PROF_ACL_API 0x0000000000000001ULL
#define ACL_PROF_TASK_TIME 0x0000000000000002ULL
#define ACL_PROF_AICORE_METRICS 0x0000000000000004ULL
#define ACL_PROF_AICPU 0x0000000000000008ULL
#define ACL_PROF_L2CACHE 0x0000000000000010ULL
#define ACL_PROF_HCCL_TRACE 0x0000000000000020ULL
#define ACL_PROF_TRAINING_TRACE 0x0000000000000040ULL
#define ACL_PROF_MSPROFTX 0x0000000000000080ULL
#define ACL_PROF_RUNTIME_API 0x0000000000000100ULL
#define ACL_PROF_GE_API_L0 0x0000000000000200ULL
#define ACL_PROF_TASK_TIME_L0 0x0000000000000800ULL
#define ACL_PROF_TASK_MEMORY 0x0000000000001000ULL
#define ACL_PROF_TASK_TIME_L2 0x0000000000002000ULL
#define ACL_PROF_OP_ATTR 0x0000000000004000ULL
#define ACL_PROF_TASK_TIME_L3 0x0000000000008000ULL
#define ACL_PROF_GE_API_L1 0x0000000001000000ULL
#define ACL_PROF_API_STATS 0x0000000400000000ULL
#define ACL_PROF_AICORE_SHAPE 0x0000000800000000ULL

#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65
#define ACL_PROF_TENSOR_DATA_SHAPE_LEN 8
#define ACL_PROF_EVENT_ATTR_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

typedef enum {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_MEMORY_ACCESS = 8,
    ACL_AICORE_NONE = 0xFF
} aclprofAicoreMetrics;

typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;

typedef enum {
    ACL_SUBSCRIBE_OP = 0,
    ACL_SUBSCRIBE_SUBGRAPH = 1,
    ACL_SUBSCRIBE_OP_THREAD = 2,
    ACL_SUBSCRIBE_NONE = 255
} aclprofSubscribeOpFlag;

typedef enum { ACL_SUBSCRIBE_ATTRI_THREADID = 0, ACL_SUBSCRIBE_ATTRI_NONE = 1 } aclprofSubscribeOpAttri;

typedef enum {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
    ACL_PROF_LLC_MODE = 4,
    ACL_PROF_SYS_IO_FREQ = 5,
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
    ACL_PROF_DVPP_FREQ = 7,
    ACL_PROF_HOST_SYS = 8,
    ACL_PROF_HOST_SYS_USAGE = 9,
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
    ACL_PROF_LOW_POWER_FREQ = 11,
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
    ACL_PROF_SYS_CPU_FREQ = 13,
    ACL_PROF_OPTYPE = 14,
    ACL_PROF_NTS_METRICS = 15,
    ACL_PROF_PATH = 16,
    ACL_PROF_ARGS_MAX = 17
} aclprofConfigType;

typedef enum { ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0 } aclprofMessageType;

#ifndef ACL_PROF_TENSOR_INFO_DEFINED
#define ACL_PROF_TENSOR_INFO_DEFINED
typedef struct {
    uint32_t type;
    uint32_t format;
    uint32_t dataType;
    uint32_t shapeDim;
    uint32_t shape[ACL_PROF_TENSOR_DATA_SHAPE_LEN];
} aclprofTensor;

typedef struct {
    uint64_t opNameId;
    uint64_t opTypeId;
    uint32_t resv;
    uint32_t tensorNum;
    uint32_t kernelType;
    uint32_t blockNums;
    void* stream;
    aclprofTensor* tensors;
} aclprofTensorInfo;

typedef struct {
    uint16_t version;
    uint16_t size;
    uint32_t messageType;
    union Message {
        aclprofTensorInfo* tensorInfo;
    } message;
} aclprofEventAttributes;
#endif

/* ---- Start and stop ---- */

/* The folder in which aclprofStart makes its own. Once before aclprofFinalize: 100002. */
RW_API aclError aclprofInit(const char* profilerResultPath, size_t length);
RW_API aclError aclprofFinalize(void);

/* NULL when the list is wrong. Ids are those of aclrtSetDevice. */
RW_API aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                          const aclprofAicoreEvents* aicoreEvents, uint64_t dataTypeConfig);
RW_API aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);

/* NULL: all devices that are up. The configuration is copied. */
RW_API aclError aclprofStart(const aclprofConfig* profilerConfig);
/* NULL: everything. Writes what was collected. */
RW_API aclError aclprofStop(const aclprofConfig* profilerConfig);
RW_API aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength);

/* ---- Steps, which are ranges of a stream ---- */

RW_API aclprofStepInfo* aclprofCreateStepInfo(void);
RW_API void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);
RW_API aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream stream);

/* ---- Marks: -1 while nobody collects them ---- */

RW_API void* aclprofCreateStamp(void);
RW_API void aclprofDestroyStamp(void* stamp);
RW_API aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen);
RW_API aclError aclprofMark(void* stamp);
RW_API aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);
RW_API aclError aclprofPush(void* stamp);
RW_API aclError aclprofPop(void);
RW_API aclError aclprofRangeStart(void* stamp, uint32_t* rangeId);
RW_API aclError aclprofRangeStop(uint32_t rangeId);
RW_API uint64_t aclprofStr2Id(const char* message);
RW_API aclError aclprofRangePushEx(aclprofEventAttributes* attr);
RW_API aclError aclprofRangePop(void);

/* ---- Operators of models, which are not loaded here ---- */

RW_API aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void* fd);
RW_API aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig);
RW_API aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig* profSubscribeConfig);
RW_API aclError aclprofModelUnSubscribe(uint32_t modelId);
RW_API aclError aclprofGetOpDescSize(size_t* opDescSize);
RW_API aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber);
RW_API aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index, size_t* opTypeLen);
RW_API aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType, size_t opTypeLen);
RW_API aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index, size_t* opNameLen);
RW_API aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName, size_t opNameLen);
RW_API uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index);
RW_API uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index);
RW_API uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index);
RW_API size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index);
RW_API aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index);
RW_API const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen, uint32_t index, aclprofSubscribeOpAttri attri);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_PROF_H */
