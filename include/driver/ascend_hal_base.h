/* Types of memory. Part of ascend_hal.h. */
#ifndef RW_DRIVER_ASCEND_HAL_BASE_H
#define RW_DRIVER_ASCEND_HAL_BASE_H

#include "ascend_hal_define.h"

#ifdef __cplusplus
extern "C" {
#endif

/* flag of halHostRegister: one of these, and the two bits below */
enum drvRegisterTpye {
    HOST_MEM_MAP_DEV = 0,
    HOST_SVM_MAP_DEV = 1,
    DEV_SVM_MAP_HOST = 2,
    HOST_MEM_MAP_DEV_PCIE_TH = 3,
    HOST_MEM_MAP_DEV_V2 = 3,
    DEV_MEM_MAP_HOST = 4,
    HOST_MEM_MAP_DMA = 5,
    HOST_IO_MAP_DEV = 6,
    HOST_REGISTER_MAX_TPYE = 7
};

#define MEM_REGISTER_READ_ONLY (1U << 28)
#define MEM_REGISTER_HOST_PINNED (1U << 29)

enum drvMemMapCapability { HOST_MEM_MAP_NOT_SUPPORTED = 0, HOST_MEM_MAP_SUPPORTED = 1 };

enum drv_mem_side { MEM_HOST_SIDE = 0, MEM_DEV_SIDE = 1, MEM_HOST_NUMA_SIDE = 2, MEM_MAX_SIDE = 3 };

enum drv_mem_pg_type { MEM_NORMAL_PAGE_TYPE = 0, MEM_HUGE_PAGE_TYPE = 1, MEM_GIANT_PAGE_TYPE = 2, MEM_MAX_PAGE_TYPE = 3 };

enum drv_mem_type { MEM_HBM_TYPE = 0, MEM_DDR_TYPE = 1, MEM_P2P_HBM_TYPE = 2, MEM_P2P_DDR_TYPE = 3, MEM_TS_DDR_TYPE = 4, MEM_MAX_TYPE = 5 };

typedef enum drv_mem_handle_type { MEM_HANDLE_TYPE_NONE = 0, MEM_HANDLE_TYPE_FABRIC = 1, MEM_HANDLE_TYPE_MAX = 2 } drv_mem_handle_type;

typedef enum drv_mem_access_type { MEM_ACCESS_TYPE_NONE = 0, MEM_ACCESS_TYPE_READ = 1, MEM_ACCESS_TYPE_READWRITE = 3 } drv_mem_access_type;

typedef enum drv_mem_granularity_options {
    MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    MEM_ALLOC_GRANULARITY_INVALID = 2
} drv_mem_granularity_options;

typedef struct drv_mem_handle drv_mem_handle_t;

struct drv_mem_prop {
    uint32_t side;
    uint32_t devid;
    uint32_t module_id;
    uint32_t pg_type;
    uint32_t mem_type;
    uint64_t reserve;
};

struct drv_mem_location {
    uint32_t id;
    enum drv_mem_side side;
};

struct drv_mem_access_desc {
    drv_mem_access_type type;
    struct drv_mem_location location;
    unsigned int rsv[2];
};

#define MEM_SHARE_HANDLE_LEN 128

struct MemShareHandle {
    uint8_t share_info[MEM_SHARE_HANDLE_LEN];
};

enum ShareHandleAttrType { SHR_HANDLE_ATTR_NO_WLIST_IN_SERVER = 0, SHR_HANDLE_ATTR_TYPE_MAX = 1 };

struct ShareHandleAttr {
    unsigned int enableFlag;
    unsigned int rsv[8];
};

struct MemInfo;

#ifdef __cplusplus
}
#endif

#endif /* RW_DRIVER_ASCEND_HAL_BASE_H */
