/* Memory by its older names. */
#ifndef RW_RUNTIME_RT_EXTERNAL_MEM_H
#define RW_RUNTIME_RT_EXTERNAL_MEM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_MEMORY_DEFAULT 0x0U
#define RT_MEMORY_HBM 0x2U
#define RT_MEMORY_RDMA_HBM 0x3U
#define RT_MEMORY_DDR 0x4U
#define RT_MEMORY_SPM 0x8U
#define RT_MEMORY_P2P_HBM 0x10U
#define RT_MEMORY_P2P_DDR 0x11U
#define RT_MEMORY_DDR_NC 0x20U
#define RT_MEMORY_TS 0x40U
#define RT_MEMORY_TS_4G 0x40U
#define RT_MEMORY_HOST 0x81U
#define RT_MEMORY_SVM 0x90U
#define RT_MEMORY_HOST_SVM 0x90U
#define RT_MEMORY_ATTACH_GLOBAL 0x1U
#define RT_MEMORY_RESERVED 0x100U
#define RT_MEMORY_L1 0x10000U
#define RT_MEMORY_L2 0x20000U

/* OR-ed to the type of memory */
#define RT_MEMORY_POLICY_NONE 0x0U
#define RT_MEMORY_POLICY_HUGE_PAGE_FIRST 0x400U
#define RT_MEMORY_POLICY_HUGE_PAGE_ONLY 0x800U
#define RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY 0x1000U
#define RT_MEMORY_POLICY_HUGE_PAGE_FIRST_P2P 0x2000U
#define RT_MEMORY_POLICY_HUGE_PAGE_ONLY_P2P 0x4000U
#define RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P 0x8000U
#define RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY 0x10000U
#define RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY_P2P 0x20000U

typedef enum {
    RT_MEMORY_TYPE_HOST = 1,
    RT_MEMORY_TYPE_DEVICE = 2,
    RT_MEMORY_TYPE_SVM = 3,
    RT_MEMORY_TYPE_DVPP = 4,
    RT_MEMORY_TYPE_USER = 5
} rtMemoryType_t;

typedef enum {
    RT_MEMORY_LOC_HOST = 0,
    RT_MEMORY_LOC_DEVICE = 1,
    RT_MEMORY_LOC_UNREGISTERED = 2,
    RT_MEMORY_LOC_MANAGED = 3,
    RT_MEMORY_LOC_HOST_NUMA = 4,
    RT_MEMORY_LOC_MAX = 5
} rtMemLocationType;

typedef enum {
    RT_MEMCPY_HOST_TO_HOST = 0,
    RT_MEMCPY_HOST_TO_DEVICE = 1,
    RT_MEMCPY_DEVICE_TO_HOST = 2,
    RT_MEMCPY_DEVICE_TO_DEVICE = 3,
    RT_MEMCPY_MANAGED = 4,
    RT_MEMCPY_ADDR_DEVICE_TO_DEVICE = 5,
    RT_MEMCPY_HOST_TO_DEVICE_EX = 6,
    RT_MEMCPY_DEVICE_TO_HOST_EX = 7,
    RT_MEMCPY_DEFAULT = 8,
    RT_MEMCPY_RESERVED = 9
} rtMemcpyKind_t;

typedef struct {
    rtMemoryType_t memoryType;
    rtMemLocationType locationType;
    uint32_t deviceID;
    uint32_t pageSize;
} rtPointerAttributes_t;

RW_API rtError_t rtMemcpy(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_RT_EXTERNAL_MEM_H */
