/*
 * Data between the ranks of a communicator, in stream order. Buffers are device memory. Counts and displacements are in elements; those
 * that are arrays are host arrays of uint64_t, one for each rank.
 */
#ifndef RW_HCCL_H
#define RW_HCCL_H

#include <stdbool.h>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The call queues; the stream waits until the partner's matching call runs. The own rank: HCCL_E_NOT_SUPPORT. */
RW_API HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm, aclrtStream stream);

/* The items of one call do not wait for each other. */
RW_API HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream);

/*
 * Every rank makes the same call, in the same order as the other collectives of the communicator. The call queues; the stream goes on when
 * its rank has its part. sendBuf may be recvBuf, except in all-to-alls.
 */
RW_API HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                aclrtStream stream);
RW_API HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                    aclrtStream stream);
RW_API HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf, uint64_t recvCount,
                                     HcclDataType dataType, HcclReduceOp op, HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root, HcclComm comm,
                              aclrtStream stream);
RW_API HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts, const void* recvDispls,
                                 HcclDataType dataType, HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op, uint32_t root,
                             HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf, uint64_t recvCount,
                               HcclDataType recvType, HcclComm comm, aclrtStream stream);
RW_API HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls, HcclDataType sendType,
                                const void* recvBuf, const void* recvCounts, const void* rdispls, HcclDataType recvType, HcclComm comm,
                                aclrtStream stream);
RW_API HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType, const void* recvBuf,
                                 HcclDataType recvType, HcclComm comm, aclrtStream stream);

/*
 * What a thread asks for between start and end, of sends, receives and collectives, begins together at the end; sends and receives of one
 * communicator and stream do not wait for each other. Groups may be nested: the outermost end counts. It answers what is left of
 * the calls' checks; none begins when one of them fails. No group: HCCL_E_NOT_SUPPORT.
 */
RW_API HcclResult HcclGroupStart(void);
RW_API HcclResult HcclGroupEnd(void);
RW_API HcclResult HcclGroupStatusGet(bool* isGroupEnabled);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_H */
