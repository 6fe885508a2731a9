/* Devices by their older names. */
#ifndef RW_RUNTIME_DEV_H
#define RW_RUNTIME_DEV_H

#include "rt_external_device.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtGetDevicePhyIdByIndex(uint32_t devIndex, uint32_t* phyId);
RW_API rtError_t rtSetDevice(int32_t devId);
RW_API rtError_t rtDeviceReset(int32_t devId);
RW_API rtError_t rtGetSocVersion(char_t* ver, const uint32_t maxLen);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_DEV_H */
