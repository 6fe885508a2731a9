/*
 * One-sided access to the memory of another rank, on this host or another. For each pair of ranks: register (each side, naming
 * the peer), exchange (both sides), enable every descriptor received, put and get, disable, deregister. Or for the whole
 * process: register global memory, bind it to a communicator, prepare (collective), put and get, unbind, deregister.
 */
#ifndef RW_HCCL_ONE_SIDED_SERVICES_H
#define RW_HCCL_ONE_SIDED_SERVICES_H

#include "hccl/base.h"
#include "hccl/hccl_types.h"
#include "hcomm/hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HCCL_MEM_DESC_LENGTH 511u
typedef struct HcclMemDescDef {
    char desc[HCCL_MEM_DESC_LENGTH + 1]; /* opaque: sent to the peer by HcclExchangeMemDesc */
} HcclMemDesc;

typedef struct HcclMemDescsDef {
    HcclMemDesc* array;
    u32 arrayLength;
} HcclMemDescs;

typedef struct HcclOneSideOpDescDef {
    void* localAddr;
    void* remoteAddr; /* inside what HcclEnableMemAccess returned */
    u64 count;        /* elements */
    HcclDataType dataType;
} HcclOneSideOpDesc;

typedef enum { HCCL_TOPO_FULLMESH = 0, HCCL_TOPO_NUM } HcclTopoType;

typedef struct HcclPrepareConfigDef {
    HcclTopoType topoType;
    u64 rsvd0;
    u64 rsvd1;
    u64 rsvd2;
} HcclPrepareConfig;

/* type: COMM_MEM_TYPE_DEVICE (at most 64 GiB) or COMM_MEM_TYPE_HOST (at most 1 TiB). */
RW_API HcclResult HcclRegisterMem(HcclComm comm, u32 remoteRank, int type, void* addr, u64 size, HcclMemDesc* desc);
RW_API HcclResult HcclDeregisterMem(HcclComm comm, HcclMemDesc* desc);

/* Both sides; the first use connects the pair. timeout: seconds, 0 for HCCL_CONNECT_TIMEOUT, -1 for ever. */
RW_API HcclResult HcclExchangeMemDesc(HcclComm comm, u32 remoteRank, HcclMemDescs* local, int timeout, HcclMemDescs* remote,
                                      u32* actualNum);

RW_API HcclResult HcclEnableMemAccess(HcclComm comm, HcclMemDesc* remoteMemDesc, CommMem* remoteMem);
RW_API HcclResult HcclDisableMemAccess(HcclComm comm, HcclMemDesc* remoteMemDesc);

/* At most 256 items, each inside one registered local and one enabled remote region. Done = visible at the target. */
RW_API HcclResult HcclBatchPut(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc* desc, u32 descNum, rtStream_t stream);
RW_API HcclResult HcclBatchGet(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc* desc, u32 descNum, rtStream_t stream);

RW_API HcclResult HcclRegisterGlobalMem(const CommMem* mem, void** memHandle);
RW_API HcclResult HcclDeregisterGlobalMem(void* memHandle);
RW_API HcclResult HcclCommBindMem(HcclComm comm, void* memHandle);
RW_API HcclResult HcclCommUnbindMem(HcclComm comm, void* memHandle);
RW_API HcclResult HcclCommPrepare(HcclComm comm, const HcclPrepareConfig* prepareConfig, const int timeout);
RW_API HcclResult HcclRemapRegistedMemory(HcclComm* comm, CommMem* memInfoArray, u64 commSize, u64 arraySize);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_ONE_SIDED_SERVICES_H */
