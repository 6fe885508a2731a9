/*
 * Symmetric windows: device memory that every rank registers together and each can address at the others.
 */
#ifndef RW_HCCL_SYM_WIN_H
#define RW_HCCL_SYM_WIN_H

#include <stddef.h>

#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective: every rank calls it with as many bytes. flag must be 1. */
RW_API HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle, uint32_t flag);
/* Of this rank alone: its addresses of the others' memory end, and theirs of its own. */
RW_API HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);

/* The window that [ptr, ptr + size) lies in, and where in it. None: HCCL_E_NOT_FOUND. */
RW_API HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle, size_t* offset);

/* An address of peerRank's memory that HcclMemcpyAsync takes; of the own rank, its own. */
RW_API HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank, void** ptr);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_SYM_WIN_H */
