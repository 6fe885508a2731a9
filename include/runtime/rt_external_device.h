/* Registers of a device: refused. */
#ifndef RW_RUNTIME_RT_EXTERNAL_DEVICE_H
#define RW_RUNTIME_RT_EXTERNAL_DEVICE_H

#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Their enumerators are not known here. */
typedef enum { RW_DEV_RES_PROC_TYPE_NONE = 0 } rtDevResProcType_t;
typedef enum { RW_DEV_RES_TYPE_NONE = 0 } rtDevResType_t;

typedef struct {
    uint32_t dieId;
    rtDevResProcType_t procType;
    rtDevResType_t resType;
    uint32_t resId;
    uint32_t flag;
} rtDevResInfo;

typedef struct {
    uint64_t* resAddress;
    uint32_t* len;
} rtDevResAddrInfo;

RW_API rtError_t rtGetDevResAddress(rtDevResInfo* const resInfo, rtDevResAddrInfo* const addrInfo);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_RT_EXTERNAL_DEVICE_H */
