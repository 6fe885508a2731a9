/*
 * Communicators: how ranks find each other, what they are called, and how they go away. Every function but HcclGetErrorString
 * returns a HcclResult; NULL arguments are HCCL_E_PTR. The functions are weak references, so that a program can ask whether
 * the library at hand has one.
 */
#ifndef RW_HCCL_COMM_H
#define RW_HCCL_COMM_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"

#if defined(__GNUC__) || defined(__clang__)
#define RW_WEAK_API RW_API __attribute__((weak))
#else
#define RW_WEAK_API RW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* On the root only: starts to listen. The bytes go to all ranks by the application's own means. */
RW_WEAK_API HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);

/* Collective: blocks until all nRanks have joined, HCCL_CONNECT_TIMEOUT seconds (120) at most. The device must be set. */
RW_WEAK_API HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm);
RW_WEAK_API HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                                  const HcclCommConfig* config, HcclComm* comm);

/* clusterInfo: the path of a rank table in JSON. The last one takes the table's text. */
RW_WEAK_API HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);
RW_WEAK_API HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config, HcclComm* comm);
RW_WEAK_API HcclResult HcclCommInitClusterInfoMemConfig(const char* rankTableString, uint32_t rank, HcclCommConfig* config, HcclComm* comm);

/* All ranks in this process, rank = index into devices. */
RW_WEAK_API HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);
RW_WEAK_API HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                               uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm);

/* NULL: success. A communicator that another thread uses: HCCL_E_AGAIN. */
RW_WEAK_API HcclResult HcclCommDestroy(HcclComm comm);

RW_WEAK_API HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
RW_WEAK_API HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);

/* commName: room for 128 bytes. */
RW_WEAK_API HcclResult HcclGetCommName(HcclComm comm, char* commName);
RW_WEAK_API HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);

/*
 * Settings of the process. HCCL_DETERMINISTIC: 0, 1 or 2 (products of the family 910B only, else HCCL_E_NOT_SUPPORT); the variable
 * HCCL_DETERMINISTIC wins. Results here are the same in every run whatever it says. Another setting is ignored: HCCL_SUCCESS.
 */
RW_WEAK_API HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
RW_WEAK_API HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);

/* HCCL_COMM_CONFIG_RESERVED: every field of HcclCommConfigCapability below it is known. */
RW_WEAK_API uint32_t HcclGetCommConfigCapability(void);

/* What the communicator was made with. Mode: info is a HcclOpExpansionMode; algorithm: a text, which needs infoLen characters and one. */
RW_WEAK_API HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void* info);

/* A communicator of this process by its name: the rank of the current device, or the first. None: HCCL_E_NOT_FOUND. */
RW_WEAK_API HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm);
RW_WEAK_API HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status);

/*
 * Suspended, a communicator takes no new work (HCCL_E_SUSPENDING); what is queued goes on until its stream is aborted. Every rank resumes:
 * the communicator then forgets its asynchronous error, and its ranks count their calls from the same point. A rank that is gone:
 * HCCL_E_REMOTE. A communicator that was not suspended can be resumed, too.
 */
RW_WEAK_API HcclResult HcclCommSuspend(HcclComm comm);
RW_WEAK_API HcclResult HcclCommResume(HcclComm comm);

/*
 * cb is called before and after a communicator of this process is destroyed or resumed; by the same name another one takes its place, and
 * NULL ends it. A failure before ends the call, which answers it; a failure after is the call's answer, too.
 */
RW_WEAK_API HcclResult HcclCommRegCommStateCallback(const char* regName, HcclCommStateCallback cb, void* args);

/* Which ranks shall use their second network card. There is one card here: to use a second one is HCCL_E_NOT_SUPPORT. */
RW_WEAK_API HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup, uint32_t nRanks);

/*
 * Reserved addresses in which captured collectives shall work without a copy, and the memory that is mapped there. Collectives here work in
 * place with any device memory; these calls keep the books, and refuse what does not fit. alignment and flags: 0.
 */
RW_WEAK_API HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t alignment, uint64_t flags);
RW_WEAK_API HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr);
RW_WEAK_API HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                                  uint64_t flags);
RW_WEAK_API HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);

/* The stream passes when all ranks have queued theirs. */
RW_WEAK_API HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/* A text for every number; it lives as long as the process. */
RW_WEAK_API const char* HcclGetErrorString(HcclResult code);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_COMM_H */
