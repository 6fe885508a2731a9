// Sends, receives, puts and gets: which bytes of this process they use, in the order of their stream. What HCCL itself calls meanwhile is
// not the program's.
#include "hccl/hccl.h"

#include "check/call.h"
#include "hccl/hccl_one_sided_services.h"

using namespace ropeway::check;

namespace {

size_t SizeOf(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16: return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32: return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64: return 8;
    case HCCL_DATA_TYPE_INT128: return 16;
    default: return 1;
  }
}

void KeepOne(Books& books, uint32_t operation, const void* buffer, uint64_t count, HcclDataType type, bool write, StreamIndex index) {
  const Access access{RangeOf(buffer, count * SizeOf(type)), write};
  books.model.SubmitUse(index, operation, {&access, 1});
}

void KeepItems(Books& books, uint32_t operation, const HcclSendRecvItem* items, uint32_t count, StreamIndex index) {
  std::vector<Access> accesses;
  for (const HcclSendRecvItem* item = items; item != items + count; ++item)
    accesses.push_back({RangeOf(item->buf, item->count * SizeOf(item->dataType)), item->sendRecvType == HCCL_RECV});
  books.model.SubmitUse(index, operation, accesses);
}

// The remote side is the business of the peer's process.
void KeepOneSided(Books& books, uint32_t operation, const HcclOneSideOpDesc* items, uint32_t count, bool write, StreamIndex index) {
  std::vector<Access> accesses;
  for (const HcclOneSideOpDesc* item = items; item != items + count; ++item)
    accesses.push_back({RangeOf(item->localAddr, item->count * SizeOf(item->dataType)), write});
  books.model.SubmitUse(index, operation, accesses);
}

}  // namespace

RW_QUEUED_AS(HcclResult, HcclSend, (void* buf, uint64_t count, HcclDataType type, uint32_t rank, HcclComm comm, aclrtStream stream),
             (buf, count, type, rank, comm, stream), KeepOne(books, operation, buf, count, type, false, index))
RW_QUEUED_AS(HcclResult, HcclRecv, (void* buf, uint64_t count, HcclDataType type, uint32_t rank, HcclComm comm, aclrtStream stream),
             (buf, count, type, rank, comm, stream), KeepOne(books, operation, buf, count, type, true, index))
RW_QUEUED_AS(HcclResult, HcclBatchSendRecv, (HcclSendRecvItem * items, uint32_t count, HcclComm comm, aclrtStream stream),
             (items, count, comm, stream), KeepItems(books, operation, items, count, index))
RW_QUEUED_AS(HcclResult, HcclBatchPut, (HcclComm comm, u32 rank, HcclOneSideOpDesc* items, u32 count, rtStream_t stream),
             (comm, rank, items, count, stream), KeepOneSided(books, operation, items, count, false, index))
RW_QUEUED_AS(HcclResult, HcclBatchGet, (HcclComm comm, u32 rank, HcclOneSideOpDesc* items, u32 count, rtStream_t stream),
             (comm, rank, items, count, stream), KeepOneSided(books, operation, items, count, true, index))
