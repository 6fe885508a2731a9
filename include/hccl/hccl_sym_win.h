/*
 * Symmetric windows: memory that every rank registers together and each can address at the others. All answer HCCL_E_NOT_SUPPORT.
 */
#ifndef RW_HCCL_SYM_WIN_H
#define RW_HCCL_SYM_WIN_H

#include <stddef.h>

#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* HcclCommSymWindow;

/* Collective; flag must be 1. */
RW_API HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle, uint32_t flag);
RW_API HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);

/* The window that [ptr, ptr + size) lies in, and where in it. */
RW_API HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle, size_t* offset);

/* An address of peerRank's memory that HcclMemcpyAsync accepts. */
RW_API HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank, void** ptr);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_SYM_WIN_H */
