/*
 * Memory and handles as the communication primitives name them. HcclMem and HCCL_MEM_TYPE_* are older names of the same.
 */
#ifndef RW_HCOMM_RES_DEFS_H
#define RW_HCOMM_RES_DEFS_H

#include <stdint.h>

#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    COMM_MEM_TYPE_INVALID = -1,
    COMM_MEM_TYPE_DEVICE = 0,
    COMM_MEM_TYPE_HOST = 1,
    HCCL_MEM_TYPE_DEVICE = COMM_MEM_TYPE_DEVICE,
    HCCL_MEM_TYPE_HOST = COMM_MEM_TYPE_HOST
} CommMemType;
typedef CommMemType HcclMemType;

typedef struct CommMemDef {
    CommMemType type;
    void* addr;
    uint64_t size;
} CommMem;
typedef CommMem HcclMem;

typedef uint64_t ThreadHandle;
typedef uint64_t ChannelHandle;
typedef void* HcclMemHandle;

#ifdef __cplusplus
}
#endif

#endif /* RW_HCOMM_RES_DEFS_H */
