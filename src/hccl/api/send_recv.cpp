// HcclSend, HcclRecv and HcclBatchSendRecv: checks in the documented order, then one item in the stream.
#include <vector>

#include "hccl/base/result.h"
#include "hccl/hccl.h"
#include "hccl/p2p/group.h"
#include "hccl/rank/find.h"
#include "ropeway/ropeway.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

constexpr uint64_t kMostElements = 0x7FFFFFFFF;  // SYS_MAX_COUNT

// Bytes of one element; 0 for a type that there is not.
uint64_t ElementBytes(HcclDataType type) {
  static constexpr uint8_t kBytes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2, 16, 0, 1, 1, 1, 1};
  const auto index = static_cast<uint32_t>(type);
  return index < sizeof kBytes ? kBytes[index] : 0;
}

Status RequirePeer(const char* name, uint32_t peer, const Communicator& communicator) {
  if (peer >= communicator.size())
    return Fail(HCCL_E_PARA, "%s is %u; the communicator has %u ranks", name, peer, communicator.size());
  if (peer == communicator.rank())
    return Fail(HCCL_E_NOT_SUPPORT, "%s is %u, which is this rank itself: use aclrtMemcpyAsync", name, peer);
  return Ok();
}

Status RequireCount(uint64_t count, HcclDataType type) {
  if (count > kMostElements) return Fail(HCCL_E_PARA, "count %lu exceeds %lu elements", count, kMostElements);
  if (ElementBytes(type) == 0) return Fail(HCCL_E_PARA, "dataType %d is no HcclDataType", type);
  return Ok();
}

// The buffer as the I/O thread will need it. Device memory only: that is what the call moves.
Status Describe(void* buffer, Transfer* transfer) {
  transfer->buffer = buffer;
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&transfer->context)));
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&transfer->device)));
  void* view = nullptr;
  const aclError code = ropewayHostView(buffer, transfer->bytes, &view);
  constexpr aclError kNoHostView = 207000;
  if (code == kNoHostView) {
    aclGetRecentErrMsg();
    return Ok();
  }
  if (code != ACL_SUCCESS)
    return Fail(HCCL_E_PARA, "[%p, + %lu bytes) is not inside one block of device memory: allocate it with aclrtMalloc",
                buffer, transfer->bytes);
  transfer->view = std::make_shared<Window>(view);
  return Ok();
}

Result<TransferRef> MakeTransfer(bool sending, void* buffer, uint64_t count, HcclDataType type, uint32_t peer) {
  auto transfer = std::make_shared<Transfer>();
  transfer->sending = sending;
  transfer->peer = peer;
  transfer->bytes = count * ElementBytes(type);
  RW_TRY(Describe(buffer, transfer.get()));
  return transfer;
}

Status Enqueue(const char* call, Communicator& communicator, std::vector<TransferRef> transfers, aclrtStream stream) {
  auto group = std::make_shared<TransferGroup>(communicator.shared_from_this(), call, std::move(transfers));
  return FromRuntime("ropewayLaunchOperation", group->Enqueue(stream));
}

HcclResult One(const char* call, bool sending, void* buffer, uint64_t count, HcclDataType type, uint32_t peer,
               HcclComm comm, aclrtStream stream) {
  return Entry(call, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer(sending ? "sendBuf" : "recvBuf", buffer));
    RW_TRY_SET(std::shared_ptr<Communicator> communicator, RequireCommunicator(comm));
    RW_TRY(RequireCount(count, type));
    RW_TRY(RequirePeer(sending ? "destRank" : "srcRank", peer, *communicator));
    RW_TRY_SET(TransferRef transfer, MakeTransfer(sending, buffer, count, type, peer));
    return Enqueue(call, *communicator, {transfer}, stream);
  });
}

Status CheckItem(const HcclSendRecvItem& item, uint32_t index, const Communicator& communicator) {
  if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV)
    return Fail(HCCL_E_PARA, "sendRecvInfo[%u].sendRecvType is %d, neither HCCL_SEND nor HCCL_RECV", index,
                item.sendRecvType);
  if (item.count > 0) RW_TRY(RequirePointer("sendRecvInfo[].buf", item.buf));
  RW_TRY(RequireCount(item.count, item.dataType));
  return RequirePeer("sendRecvInfo[].remoteRank", item.remoteRank, communicator);
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return One(__func__, true, sendBuf, count, dataType, destRank, comm, stream);
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return One(__func__, false, recvBuf, count, dataType, srcRank, comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (itemNum == 0) return Ok();
    RW_TRY(RequirePointer("sendRecvInfo", sendRecvInfo));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY_SET(std::shared_ptr<Communicator> communicator, RequireCommunicator(comm));
    for (uint32_t i = 0; i < itemNum; ++i) RW_TRY(CheckItem(sendRecvInfo[i], i, *communicator));
    std::vector<TransferRef> transfers;
    for (uint32_t i = 0; i < itemNum; ++i) {
      const HcclSendRecvItem& item = sendRecvInfo[i];
      if (item.count == 0) continue;
      RW_TRY_SET(TransferRef transfer,
                 MakeTransfer(item.sendRecvType == HCCL_SEND, item.buf, item.count, item.dataType, item.remoteRank));
      transfers.push_back(transfer);
    }
    if (transfers.empty()) return Ok();
    return Enqueue("HcclBatchSendRecv", *communicator, std::move(transfers), stream);
  });
}
