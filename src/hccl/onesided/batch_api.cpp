// HcclBatchPut and HcclBatchGet: checks in the order of the original, then the service.
#include "hccl/onesided/one_sided.h"
#include "hccl/onesided/one_sided_checks.h"

using namespace ropeway::comm;
using ropeway::comm::Entry;
using ropeway::comm::Result;

namespace ropeway::comm {
namespace {

// 0 for a number that is no data type.
uint64_t ElementSize(HcclDataType type) {
  constexpr uint8_t kSizes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2, 16, 0, 1, 1, 1, 1};
  const auto number = static_cast<uint32_t>(type);
  return number < sizeof kSizes ? kSizes[number] : 0;
}

Status RequireBatch(const Communicator& communicator, uint32_t rank, uint32_t count) {
  constexpr uint32_t kMostItems = 256;
  if (count > kMostItems) return Fail(HCCL_E_PARA, "descNum %u exceeds %u: use several batches", count, kMostItems);
  if (count == 0) return Ok();  // the original skips the rank then
  RW_TRY(RequireRank(communicator, rank));
  if (rank == communicator.rank()) return Fail(HCCL_E_PARA, "remoteRank %u is this rank: use aclrtMemcpyAsync", rank);
  return Ok();
}

Result<BatchItem> ItemOf(OneSided& service, uint32_t rank, const HcclOneSideOpDesc& desc, uint32_t index) {
  const auto local = reinterpret_cast<uint64_t>(desc.localAddr);
  const auto remote = reinterpret_cast<uint64_t>(desc.remoteAddr);
  const uint64_t element = ElementSize(desc.dataType);
  if (element == 0) return Fail(HCCL_E_PARA, "desc[%u].dataType %d is no data type", index, static_cast<int>(desc.dataType));
  if (desc.count == 0) return Fail(service.IsEnabled(rank, remote, 1) ? HCCL_E_PARA : HCCL_E_INTERNAL, "desc[%u].count is 0", index);
  if (desc.count > UINT64_MAX / element) return Fail(HCCL_E_INTERNAL, "desc[%u].count %llu leaves every region", index, desc.count);
  return BatchItem{local, remote, desc.count * element};
}

Status Batch(bool put, HcclComm comm, uint32_t rank, const HcclOneSideOpDesc* desc, uint32_t count, void* stream) {
  RW_TRY(RequirePointer("comm", comm));
  RW_TRY(RequirePointer("stream", stream));
  RW_TRY(RequirePointer("desc", desc));
  RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
  RW_TRY(RequireBatch(*found.communicator, rank, count));
  RW_TRY(found.service->RequireConnection(rank));
  std::vector<BatchItem> items;
  items.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    RW_TRY_SET(const BatchItem item, ItemOf(*found.service, rank, desc[i], i));
    items.push_back(item);
  }
  return found.service->Batch(put, rank, items, stream);
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclBatchPut(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc* desc, u32 descNum, rtStream_t stream) {
  return Entry(__func__, [&] { return Batch(true, comm, remoteRank, desc, descNum, stream); });
}

HcclResult HcclBatchGet(HcclComm comm, u32 remoteRank, HcclOneSideOpDesc* desc, u32 descNum, rtStream_t stream) {
  return Entry(__func__, [&] { return Batch(false, comm, remoteRank, desc, descNum, stream); });
}
