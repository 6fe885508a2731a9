// What this library knows by name and does not do: collectives, which need the ranks' reductions, and the layer for code that
// runs on the device. Pointers are checked as the original does, so that a program's own mistakes come out first.
#include "hccl/base/result.h"
#include "hccl/hccl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_res.h"
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

HcclResult HcclCommMemReg(HcclComm, const char*, const CommMem*, HcclMemHandle*) { return RefuseDeviceSide(__func__); }

HcclResult HcclChannelGetRemoteMems(HcclComm, ChannelHandle, uint32_t*, CommMem**, char***) { return RefuseDeviceSide(__func__); }

int32_t HcommLocalCopyOnThread(ThreadHandle, void*, const void*, uint64_t) { return RefuseDeviceSide(__func__); }

int32_t HcommWriteOnThread(ThreadHandle, ChannelHandle, void*, const void*, uint64_t) { return RefuseDeviceSide(__func__); }

int32_t HcommReadOnThread(ThreadHandle, ChannelHandle, void*, const void*, uint64_t) { return RefuseDeviceSide(__func__); }
