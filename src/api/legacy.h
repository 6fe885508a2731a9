// Older runtime names that no public header declares but that some clients look up in the library by name, and give up
// without. They return the codes of the functions they stand for.
#pragma once

#include <cstdint>

#include "acl/acl_rt.h"

extern "C" {

RW_API int32_t rtDeviceGetBareTgid(uint32_t* pid);
RW_API int32_t rtGetDeviceInfo(uint32_t deviceId, int32_t moduleType, int32_t infoType, int64_t* value);
RW_API int32_t rtGetLogicDevIdByUserDevId(int32_t userDevId, int32_t* logicDevId);

// devIdDes is a user id and gets access to phyIdSrc, which is a physical id.
RW_API int32_t rtEnableP2P(uint32_t devIdDes, uint32_t phyIdSrc, uint32_t flag);
RW_API int32_t rtDisableP2P(uint32_t devIdDes, uint32_t phyIdSrc);

RW_API int32_t rtMemcpyAsyncWithoutCheckKind(void* dst, uint64_t destMax, const void* src, uint64_t count, int32_t kind, void* stream);

RW_API int32_t rtIpcSetMemoryName(const void* ptr, uint64_t byteCount, char* name, uint32_t len);
RW_API int32_t rtIpcDestroyMemoryName(const char* name);
RW_API int32_t rtIpcOpenMemory(void** ptr, const char* name);
RW_API int32_t rtIpcCloseMemory(const void* ptr);
RW_API int32_t rtSetIpcMemorySuperPodPid(const char* name, uint32_t sdid, int32_t pid[], int32_t num);

}  // extern "C"
