/*
 * Records of what happened, in buffers of the program. Times are nanoseconds of CLOCK_REALTIME. Fields follow each other without gaps, and
 * a record's size is a multiple of 8. Texts stay where they are for as long as the process.
 */
#ifndef RW_MSPTI_ACTIVITY_H
#define RW_MSPTI_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "acl/detail/api_macros.h"
#include "mspti_result.h"

#define RW_MSPTI_RECORD __attribute__((packed, aligned(8)))

/* No stream: the calling thread did it by itself. */
#define MSPTI_INVALID_STREAM_ID 0xFFFFFFFFU
#define MSPTI_INVALID_DEVICE_ID 0xFFFFFFFFU
#define MSPTI_INVALID_CORRELATION_ID 0ULL

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MSPTI_ACTIVITY_KIND_INVALID = 0,
    MSPTI_ACTIVITY_KIND_MARKER = 1,
    MSPTI_ACTIVITY_KIND_KERNEL = 2,
    MSPTI_ACTIVITY_KIND_API = 3,
    MSPTI_ACTIVITY_KIND_HCCL = 4,
    MSPTI_ACTIVITY_KIND_MEMORY = 5,
    MSPTI_ACTIVITY_KIND_MEMSET = 6,
    MSPTI_ACTIVITY_KIND_MEMCPY = 7,
    MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 8,
    MSPTI_ACTIVITY_KIND_COMMUNICATION = 9,
    MSPTI_ACTIVITY_KIND_ACL_API = 10,
    MSPTI_ACTIVITY_KIND_NODE_API = 11,
    MSPTI_ACTIVITY_KIND_RUNTIME_API = 12,
    MSPTI_ACTIVITY_KIND_COUNT
} msptiActivityKind;

typedef enum { MSPTI_ACTIVITY_SOURCE_KIND_HOST = 0, MSPTI_ACTIVITY_SOURCE_KIND_DEVICE = 1 } msptiActivitySourceKind;

typedef enum {
    MSPTI_ACTIVITY_FLAG_NONE = 0,
    MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS = 1,
    MSPTI_ACTIVITY_FLAG_MARKER_START = 2,
    MSPTI_ACTIVITY_FLAG_MARKER_END = 4,
    MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS_WITH_DEVICE = 8,
    MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE = 16,
    MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE = 32
} msptiActivityFlag;

typedef enum {
    MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION = 0,
    MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE = 1
} msptiActivityMemoryOperationType;

typedef enum { MSPTI_ACTIVITY_MEMORY_UNKNOWN = 0, MSPTI_ACTIVITY_MEMORY_DEVICE = 1 } msptiActivityMemoryKind;

typedef enum {
    MSPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
    MSPTI_ACTIVITY_MEMCPY_KIND_HTOH = 1,
    MSPTI_ACTIVITY_MEMCPY_KIND_HTOD = 2,
    MSPTI_ACTIVITY_MEMCPY_KIND_DTOH = 3,
    MSPTI_ACTIVITY_MEMCPY_KIND_DTOD = 4,
    MSPTI_ACTIVITY_MEMCPY_KIND_DEFAULT = 5
} msptiActivityMemcpyKind;

typedef enum {
    MSPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
    MSPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
    MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 2,
    MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 3,
    MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 4,
    MSPTI_EXTERNAL_CORRELATION_KIND_SIZE
} msptiExternalCorrelationKind;

/* Who: a thread of a process, or a stream of a device. */
typedef union {
    struct {
        uint32_t processId;
        uint32_t threadId;
    } pt;
    struct {
        uint32_t deviceId;
        uint32_t streamId;
    } ds;
} msptiObjectId;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
} msptiActivity;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    msptiActivityFlag flag;
    msptiActivitySourceKind sourceKind;
    uint64_t timestamp;
    uint64_t id;
    msptiObjectId objectId;
    const char* name; /* "" at the end of a range */
    const char* domain;
} msptiActivityMarker;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    uint64_t start;
    uint64_t end;
    struct {
        uint32_t deviceId;
        uint32_t streamId;
    } ds;
    uint64_t correlationId;
    const char* type;
    const char* name;
} msptiActivityKernel;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    uint64_t start;
    uint64_t end;
    struct {
        uint32_t processId;
        uint32_t threadId;
    } pt;
    uint64_t correlationId;
    const char* name;
} msptiActivityApi;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    msptiActivityMemoryOperationType memoryOperationType;
    msptiActivityMemoryKind memoryKind;
    uint64_t correlationId;
    uint64_t start;
    uint64_t end;
    uint64_t address;
    uint64_t bytes;
    uint32_t processId;
    uint32_t deviceId;
    uint32_t streamId;
} msptiActivityMemory;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    uint32_t value;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t streamId;
    uint64_t correlationId;
    uint8_t isAsync;
} msptiActivityMemset;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    msptiActivityMemcpyKind copyKind;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t streamId;
    uint64_t correlationId;
    uint8_t isAsync;
} msptiActivityMemcpy;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    msptiExternalCorrelationKind externalKind;
    uint64_t externalId;
    uint64_t correlationId;
} msptiActivityExternalCorrelation;

typedef struct RW_MSPTI_RECORD {
    msptiActivityKind kind;
    uint32_t dataType;
    uint64_t count;
    struct {
        uint32_t deviceId;
        uint32_t streamId;
    } ds;
    uint64_t start;
    uint64_t end;
    const char* algType;
    const char* name;
    const char* commName;
    uint64_t correlationId;
} msptiActivityCommunication;

/* ---- Buffers: asked for when a record needs room, given back exactly once with what is valid in them ---- */

/* *buffer is to be aligned to 8 bytes; *maxNumRecords 0: as many as fit. */
typedef void (*msptiBuffersCallbackRequestFunc)(uint8_t** buffer, size_t* size, size_t* maxNumRecords);
typedef void (*msptiBuffersCallbackCompleteFunc)(uint8_t* buffer, size_t size, size_t validSize);

RW_API msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc funcBufferRequested,
                                                  msptiBuffersCallbackCompleteFunc funcBufferCompleted);
RW_API msptiResult msptiActivityEnable(msptiActivityKind kind);
RW_API msptiResult msptiActivityDisable(msptiActivityKind kind);
/* 1: enabled. */
RW_API int msptiActivityIsEnabled(msptiActivityKind kind);
/* Everything that has ended is in the program's hands when this returns. */
RW_API msptiResult msptiActivityFlushAll(uint32_t flag);
/* Every so many milliseconds, on a thread of the library; 0: not. */
RW_API msptiResult msptiActivityFlushPeriod(uint32_t time);
/* *record NULL: the first, else the one behind it. 3: there is none. */
RW_API msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes, msptiActivity** record);

/* ---- Numbers of the program for the calls that a thread makes ---- */

RW_API msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id);
/* lastId may be NULL. */
RW_API msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t* lastId);

#ifdef __cplusplus
}
#endif

#endif /* RW_MSPTI_ACTIVITY_H */
