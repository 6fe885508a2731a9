/* Numbers of the driver. Part of ascend_hal.h. */
#ifndef RW_DRIVER_ASCEND_HAL_DEFINE_H
#define RW_DRIVER_ASCEND_HAL_DEFINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long UINT64;
typedef unsigned int UINT32;

typedef enum tagDrvError {
    DRV_ERROR_NONE = 0,
    DRV_ERROR_NO_DEVICE = 1,
    DRV_ERROR_INVALID_DEVICE = 2,
    DRV_ERROR_INVALID_VALUE = 3,
    DRV_ERROR_INVALID_HANDLE = 4,
    DRV_ERROR_OUT_OF_MEMORY = 6,
    DRV_ERROR_INNER_ERR = 7,
    DRV_ERROR_PARA_ERROR = 8,
    DRV_ERROR_REPEATED_INIT = 10,
    DRV_ERROR_NOT_EXIST = 11,
    DRV_ERROR_BUSY = 13,
    DRV_ERROR_NO_RESOURCES = 14,
    DRV_ERROR_PERMISSION = 88,
    DRV_ERROR_NOT_SUPPORT = 0xfffe
} drvError_t;

typedef drvError_t DVresult;
typedef UINT32 DVdevice;
typedef UINT64 DVdeviceptr;

enum { UNKNOWN_MODULE_ID = 0, HCCL_HAL_MODULE_ID = 3, RUNTIME_MODULE_ID = 7 };

#ifdef __cplusplus
}
#endif

#endif /* RW_DRIVER_ASCEND_HAL_DEFINE_H */
