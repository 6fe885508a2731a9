// HcclSend, HcclRecv and HcclBatchSendRecv: checks in the documented order, then one item in the stream.
#include <vector>

#include "hccl/api/count_checks.h"
#include "hccl/api/group.h"
#include "hccl/base/reduce_kernel.h"
#include "hccl/base/result.h"
#include "hccl/hccl.h"
#include "hccl/membership/find.h"
#include "hccl/p2p/group.h"
#include "hccl/p2p/host_view.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

Status RequirePeer(const char* name, uint32_t peer, const Communicator& communicator) {
  RW_TRY(RequireRankOf(name, peer, communicator));
  if (peer != communicator.rank()) return Ok();
  return Fail(HCCL_E_NOT_SUPPORT, "%s is %u, which is this rank itself: use aclrtMemcpyAsync", name, peer);
}

Status RequireCount(uint64_t count, HcclDataType type) {
  RW_TRY(RequireElements("count", count));
  if (ElementBytes(type) == 0) return Fail(HCCL_E_PARA, "dataType %d is no HcclDataType", type);
  return Ok();
}

// The buffer as the I/O thread will need it.
Status Describe(void* buffer, Transfer* transfer) {
  transfer->buffer = buffer;
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&transfer->context)));
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&transfer->device)));
  RW_TRY_SET(void* view, HostViewOf(buffer, transfer->bytes));
  transfer->SetView(view);
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

// How much of what a call moves: elements of one type, or bytes.
struct Amount {
  HcclDataType type;
  uint64_t count;
};

Amount AmountOf(const std::vector<HcclSendRecvItem>& items) {
  Amount elements{items[0].dataType, 0}, bytes{HCCL_DATA_TYPE_INT8, 0};
  bool same = true;
  for (const HcclSendRecvItem& item : items) {
    same = same && item.dataType == elements.type;
    elements.count += item.count;
    bytes.count += item.count * ElementBytes(item.dataType);
  }
  return same ? elements : bytes;
}

Status Enqueue(const char* call, Communicator& communicator, std::vector<TransferRef> transfers, const Amount& amount, aclrtStream stream) {
  RW_TRY(RequireNotSuspended(communicator));
  const Communicating communicating({communicator.name().c_str(), amount.type, amount.count});
  auto group = std::make_shared<TransferGroup>(communicator.shared_from_this(), call, std::move(transfers));
  return FromRuntime("ropewayLaunchOperation", group->Enqueue(stream));
}

[[gnu::always_inline]] inline HcclResult One(const char* call, bool sending, void* buffer, uint64_t count, HcclDataType type, uint32_t peer,
                                             HcclComm comm, aclrtStream stream) {
  return Entry(call, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer(sending ? "sendBuf" : "recvBuf", buffer));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    RW_TRY(RequireCount(count, type));
    if (InGroup()) return AddToGroup({call, comm, stream, nullptr, {sending ? HCCL_SEND : HCCL_RECV, buffer, count, type, peer}});
    RW_TRY(RequirePeer(sending ? "destRank" : "srcRank", peer, *communicator));
    RW_TRY_SET(TransferRef transfer, MakeTransfer(sending, buffer, count, type, peer));
    return Enqueue(call, *communicator, {transfer}, {type, count}, stream);
  });
}

Status CheckItem(const HcclSendRecvItem& item, uint32_t index, const Communicator& communicator) {
  if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV)
    return Fail(HCCL_E_PARA, "sendRecvInfo[%u].sendRecvType is %d, neither HCCL_SEND nor HCCL_RECV", index, item.sendRecvType);
  RW_TRY(RequireCount(item.count, item.dataType));
  RW_TRY(RequireRankOf("sendRecvInfo[].remoteRank", item.remoteRank, communicator));
  const bool to_itself = item.remoteRank == communicator.rank();
  return item.count > 0 && !to_itself ? RequirePointer("sendRecvInfo[].buf", item.buf) : Ok();
}

struct SelfCopy {
  void* to;
  const void* from;
  uint64_t bytes;
};

// A batch, sorted: what goes to other ranks is one item of the stream; what the rank sends to itself is a copy each.
struct BatchWork {
  std::vector<TransferRef> transfers;
  std::vector<const HcclSendRecvItem*> self_sends, self_receives;
  std::vector<SelfCopy> copies;
};

Status Sort(const HcclSendRecvItem& item, const Communicator& communicator, BatchWork* work) {
  // Without a buffer and yet here is only an item to the rank itself; the original skips those.
  if (item.count == 0 || item.buf == nullptr) return Ok();
  const bool sending = item.sendRecvType == HCCL_SEND;
  if (item.remoteRank == communicator.rank()) {
    (sending ? work->self_sends : work->self_receives).push_back(&item);
    return Ok();
  }
  RW_TRY_SET(TransferRef transfer, MakeTransfer(sending, item.buf, item.count, item.dataType, item.remoteRank));
  work->transfers.push_back(transfer);
  return Ok();
}

// The n-th send of the rank to itself meets its n-th receive from itself.
Status PairUp(BatchWork* work) {
  const auto& sends = work->self_sends;
  const auto& receives = work->self_receives;
  if (sends.size() != receives.size())
    return Fail(HCCL_E_PARA, "the rank sends %zu items to itself and receives %zu: each needs its partner in the same call", sends.size(),
                receives.size());
  for (size_t i = 0; i < sends.size(); ++i) {
    const HcclSendRecvItem &send = *sends[i], &receive = *receives[i];
    if (send.count != receive.count || send.dataType != receive.dataType)
      return Fail(HCCL_E_PARA, "send %zu of the rank to itself has %lu elements of type %d, its receive %lu of type %d", i, send.count,
                  send.dataType, receive.count, receive.dataType);
    const uint64_t bytes = send.count * ElementBytes(send.dataType);
    for (const HcclSendRecvItem* item : {&send, &receive}) RW_TRY(HostViewOf(item->buf, bytes).status());
    if (send.buf != receive.buf) work->copies.push_back({receive.buf, send.buf, bytes});
  }
  return Ok();
}

Status EnqueueCopies(const std::vector<SelfCopy>& copies, aclrtStream stream) {
  for (const SelfCopy& copy : copies) {
    RW_TRY(
        FromRuntime("aclrtMemcpyAsync", aclrtMemcpyAsync(copy.to, copy.bytes, copy.from, copy.bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)));
  }
  return Ok();
}

}  // namespace

// Holds no communicator, which a call may do for its own length only.
Result<Launch> PrepareBatch(const char* name, const std::vector<HcclSendRecvItem>& items, HcclComm comm, aclrtStream stream) {
  RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
  for (uint32_t i = 0; i < items.size(); ++i) RW_TRY(CheckItem(items[i], i, *communicator));
  BatchWork work;
  for (const HcclSendRecvItem& item : items) RW_TRY(Sort(item, *communicator, &work));
  RW_TRY(PairUp(&work));
  return Launch(
      [name, comm, stream, amount = AmountOf(items), transfers = std::move(work.transfers), copies = std::move(work.copies)]() -> Status {
        RW_TRY_SET(const CommunicatorHold found, RequireCommunicator(comm));
        if (!transfers.empty()) RW_TRY(Enqueue(name, *found, transfers, amount, stream));
        return EnqueueCopies(copies, stream);
      });
}

}  // namespace ropeway::comm

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm, aclrtStream stream) {
  return One(__func__, true, sendBuf, count, dataType, destRank, comm, stream);
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm, aclrtStream stream) {
  return One(__func__, false, recvBuf, count, dataType, srcRank, comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("sendRecvInfo", sendRecvInfo));
    if (itemNum == 0) return Ok();
    const std::vector<HcclSendRecvItem> items(sendRecvInfo, sendRecvInfo + itemNum);
    const auto prepare = [=] { return PrepareBatch("HcclBatchSendRecv", items, comm, stream); };
    if (InGroup()) return AddToGroup({"HcclBatchSendRecv", comm, stream, prepare});
    RW_TRY_SET(Launch launch, prepare());
    return launch();
  });
}
