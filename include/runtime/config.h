/* Counts of cores by their older names: refused; aclrtGetDeviceInfo knows them. */
#ifndef RW_RUNTIME_CONFIG_H
#define RW_RUNTIME_CONFIG_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtGetAiCoreCount(uint32_t* aiCoreCnt);
RW_API rtError_t rtGetAiCpuCount(uint32_t* aiCpuCnt);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_CONFIG_H */
