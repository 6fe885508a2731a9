// What this library knows by name and does not do: collectives, which need the ranks' reductions, memory that is registered for them,
// and the layer for code that runs on the device. Arguments are checked as the original does, so that a program's own mistakes come out
// first.
#include "hccl/base/result.h"
#include "hccl/hccl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_ex.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_sym_win.h"
#include "hcomm/hcomm_primitives.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

Status NoCollective() {
  return Fail(HCCL_E_NOT_SUPPORT, "collectives are not implemented; use HcclSend and HcclRecv, or HcclBatchPut and HcclBatchGet");
}

HcclResult RefuseCollective(const char* call, HcclComm comm, const void* first, const void* second) {
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("sendBuf", first));
    RW_TRY(RequirePointer("recvBuf", second));
    return NoCollective();
  });
}

Status NoMemoryForCollectives() {
  return Fail(HCCL_E_NOT_SUPPORT, "memory is not registered for collectives, which are not implemented; use HcclRegisterMem and HcclBatchPut");
}

HcclResult RefuseWindow(const char* call) {
  return Entry(call, []() -> Status {
    return Fail(HCCL_E_NOT_SUPPORT,
                "symmetric windows are not implemented; HcclRegisterMem, HcclExchangeMemDesc and HcclEnableMemAccess give an address of a "
                "peer's memory that HcclMemcpyAsync takes");
  });
}

HcclResult RefuseDeviceSide(const char* call) {
  return Entry(call, []() -> Status {
    return Fail(HCCL_E_NOT_SUPPORT,
                "channels and communication threads exist on the device only; use HcclRegisterMem and HcclBatchPut");
  });
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t, HcclDataType, HcclReduceOp, HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclBroadcast(void* buf, uint64_t, HcclDataType, uint32_t, HcclComm comm, aclrtStream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("buf", buf));
    return NoCollective();
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t, HcclDataType, HcclReduceOp, HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclReduceScatterV(void* sendBuf, const void*, const void*, void* recvBuf, uint64_t, HcclDataType, HcclReduceOp,
                              HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

// Only the root has something to send.
HcclResult HcclScatter(void*, void* recvBuf, uint64_t, HcclDataType, uint32_t, HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, recvBuf, recvBuf);
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t, HcclDataType, HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t, void* recvBuf, const void*, const void*, HcclDataType, HcclComm comm,
                          aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t, HcclDataType, HcclReduceOp, uint32_t, HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t, HcclDataType, const void* recvBuf, uint64_t, HcclDataType, HcclComm comm,
                        aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void*, const void*, HcclDataType, const void* recvBuf, const void*,
                         const void*, HcclDataType, HcclComm comm, aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void*, HcclDataType, const void* recvBuf, HcclDataType, HcclComm comm,
                          aclrtStream) {
  return RefuseCollective(__func__, comm, sendBuf, recvBuf);
}

HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("addr", addr));
    RW_TRY(RequirePointer("handle", handle));
    if (size == 0) return Fail(HCCL_E_PARA, "size is 0");
    return NoMemoryForCollectives();
  });
}

HcclResult HcclCommDeregister(HcclComm comm, void* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("handle", handle));
    return NoMemoryForCollectives();
  });
}

HcclResult HcclCommExchangeMem(HcclComm comm, void* windowHandle, uint32_t* peerRanks, uint32_t peerRankNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("windowHandle", windowHandle));
    RW_TRY(RequirePointer("peerRanks", peerRanks));
    if (peerRankNum == 0) return Fail(HCCL_E_PARA, "peerRankNum is 0");
    return NoMemoryForCollectives();
  });
}

HcclResult HcclCommSymWinRegister(HcclComm, void*, uint64_t, HcclCommSymWindow*, uint32_t) { return RefuseWindow(__func__); }

HcclResult HcclCommSymWinDeregister(HcclCommSymWindow) { return RefuseWindow(__func__); }

HcclResult HcclCommSymWinGet(HcclComm, void*, size_t, HcclCommSymWindow*, size_t*) { return RefuseWindow(__func__); }

HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow, size_t, uint32_t, void**) { return RefuseWindow(__func__); }

HcclResult HcclCommMemReg(HcclComm, const char*, const CommMem*, HcclMemHandle*) { return RefuseDeviceSide(__func__); }

HcclResult HcclChannelGetRemoteMems(HcclComm, ChannelHandle, uint32_t*, CommMem**, char***) { return RefuseDeviceSide(__func__); }

int32_t HcommLocalCopyOnThread(ThreadHandle, void*, const void*, uint64_t) { return RefuseDeviceSide(__func__); }

int32_t HcommWriteOnThread(ThreadHandle, ChannelHandle, void*, const void*, uint64_t) { return RefuseDeviceSide(__func__); }

int32_t HcommReadOnThread(ThreadHandle, ChannelHandle, void*, const void*, uint64_t) { return RefuseDeviceSide(__func__); }
