/*
 * User memory that collectives use without a copy of their own. They hand out no pointer to a peer's memory. Collectives here use all
 * device memory so, registered or not.
 */
#ifndef RW_HCCL_EX_H
#define RW_HCCL_EX_H

#include "hccl/base.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory, inside one block. flag is not looked at. */
RW_API HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t flag);
RW_API HcclResult HcclCommDeregister(HcclComm comm, void* handle);
/* Connects the communicator with those ranks. peerRankNum: 1 to the number of ranks. */
RW_API HcclResult HcclCommExchangeMem(HcclComm comm, void* windowHandle, uint32_t* peerRanks, uint32_t peerRankNum);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_EX_H */
