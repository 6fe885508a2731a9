// The collectives: checks in the documented order, then one item in the stream. What stands behind the null checks of a call is made when
// its group ends, when it is inside one.
#include <algorithm>
#include <numeric>

#include "hccl/api/count_checks.h"
#include "hccl/api/group.h"
#include "hccl/api/product.h"
#include "hccl/coll/launch.h"
#include "hccl/hccl.h"
#include "hccl/membership/find.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

using Numbers = std::vector<uint64_t>;

// `prepare`: the rest of a call's checks, and what it does; a call that keeps no name has nothing to do.
template <typename Prepare>  // Status(const Communicator&, CollectiveCall*)
Result<Launch> PrepareLaunch(const Prepare& prepare, HcclComm comm, aclrtStream stream) {
  RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
  CollectiveCall call;
  RW_TRY(prepare(*communicator, &call));
  return Launch([call = std::move(call), comm, stream]() -> Status {
    if (call.name == nullptr) return Ok();
    RW_TRY_SET(const CommunicatorHold found, RequireCommunicator(comm));
    return LaunchCollective(*found, CollectiveCall(call), stream);
  });
}

template <typename Prepare>
Status Submit(const char* name, HcclComm comm, aclrtStream stream, const Prepare& prepare) {
  RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
  if (InGroup()) return AddToGroup({name, comm, stream, [=] { return PrepareLaunch(prepare, comm, stream); }, {}});
  CollectiveCall call;
  RW_TRY(prepare(*communicator, &call));
  return call.name != nullptr ? LaunchCollective(*communicator, std::move(call), stream) : Ok();
}

Status RequireType(const char* name, HcclDataType type) {
  if (FindReduceKernel(type, HCCL_REDUCE_SUM) != nullptr) return Ok();
  return Fail(HCCL_E_NOT_SUPPORT, "%s is %d, which is no type of a collective: it takes INT8 (0) to INT128 (12)", name, type);
}

Status RequireReduction(HcclDataType type, HcclReduceOp op) {
  RW_TRY(RequireType("dataType", type));
  if (FindReduceKernel(type, op) == nullptr)
    return Fail(HCCL_E_NOT_SUPPORT, "op is %d, none of HCCL_REDUCE_SUM, PROD, MAX and MIN (0 to 3)", op);
  return RequireReducibleHere(type, op);
}

void Describe(const char* name, Collective what, HcclDataType type, CollectiveCall* call) {
  call->name = name;
  call->type = type;
  call->shape.what = what;
  call->shape.element_bytes = ElementBytes(type);
}

void SetBuffers(const void* input, uint64_t input_bytes, void* output, uint64_t output_bytes, CollectiveCall* call) {
  call->input = input;
  call->input_bytes = input_bytes;
  call->output = output;
  call->output_bytes = output_bytes;
}

// A host array of the caller, which is gone when a group ends.
Numbers NumbersAt(const void* array, size_t size) {
  const auto* numbers = static_cast<const uint64_t*>(array);
  return {numbers, numbers + size};
}
uint64_t SumOf(const Numbers& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

Status RequireAll(const char* name, const Numbers& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > kMostElements) return Fail(HCCL_E_PARA, "%s[%zu] is %lu, more than %lu elements", name, i, counts[i], kMostElements);
  }
  return Ok();
}

// Displacements beyond all memory would wrap around.
Status RequirePlaces(const char* name, const Numbers& places) {
  constexpr uint64_t kMost = uint64_t{1} << 58;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] > kMost) return Fail(HCCL_E_PARA, "%s[%zu] is %lu elements, beyond all memory", name, i, places[i]);
  }
  return Ok();
}

std::vector<Block> BlocksAt(const Numbers& counts, const Numbers& places, uint64_t element_bytes) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < counts.size(); ++i) blocks.push_back({places[i] * element_bytes, counts[i] * element_bytes});
  return blocks;
}
uint64_t Extent(const std::vector<Block>& blocks) {
  uint64_t end = 0;
  for (const Block& block : blocks) end = std::max(end, block.bytes == 0 ? 0 : block.offset + block.bytes);
  return end;
}
// One behind the other.
Numbers PlacesOf(const Numbers& counts) {
  Numbers places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), uint64_t{0});
  return places;
}

Status AllToAll(const char* name, const void* from, std::vector<Block> sends, const void* to, std::vector<Block> receives,
                CollectiveCall* call) {
  Describe(name, Collective::kAllToAll, HCCL_DATA_TYPE_INT8, call);
  SetBuffers(from, Extent(sends), const_cast<void*>(to), Extent(receives), call);
  call->shape.sends = std::move(sends);
  call->shape.receives = std::move(receives);
  return Ok();
}

Status RequireDifferent(const void* sendBuf, const void* recvBuf) {
  if (sendBuf != recvBuf) return Ok();
  return Fail(HCCL_E_PARA, "sendBuf and recvBuf are both %p: an all-to-all cannot work in place", sendBuf);
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                         aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("sendBuf", sendBuf));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    RW_TRY(RequirePointer("stream", stream));
    return Submit("HcclAllReduce", comm, stream, [=](const Communicator&, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("count", count));
      RW_TRY(RequireReduction(dataType, op));
      Describe("HcclAllReduce", Collective::kAllReduce, dataType, call);
      call->kernel = FindReduceKernel(dataType, op);
      call->shape.bytes = count * ElementBytes(dataType);
      call->equal_blocks = true;
      SetBuffers(sendBuf, call->shape.bytes, recvBuf, call->shape.bytes, call);
      return Ok();
    });
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op, uint32_t root, HcclComm comm,
                      aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("sendBuf", sendBuf));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    RW_TRY(RequirePointer("stream", stream));
    return Submit("HcclReduce", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("count", count));
      RW_TRY(RequireReduction(dataType, op));
      RW_TRY(RequireRankOf("root", root, communicator));
      Describe("HcclReduce", Collective::kReduce, dataType, call);
      call->kernel = FindReduceKernel(dataType, op);
      call->shape.bytes = count * ElementBytes(dataType);
      call->shape.root = root;
      // Only the root's output is written.
      SetBuffers(sendBuf, call->shape.bytes, recvBuf, root == communicator.rank() ? call->shape.bytes : 0, call);
      return Ok();
    });
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (recvCount == 0) return Ok();
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("sendBuf", sendBuf));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    return Submit("HcclReduceScatter", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("recvCount", recvCount));
      RW_TRY(RequireReduction(dataType, op));
      Describe("HcclReduceScatter", Collective::kReduceScatter, dataType, call);
      call->kernel = FindReduceKernel(dataType, op);
      const uint64_t bytes = recvCount * ElementBytes(dataType);
      call->shape.sends = Blocks::Equal(bytes);
      call->equal_blocks = true;
      SetBuffers(sendBuf, bytes * communicator.size(), recvBuf, bytes, call);
      return Ok();
    });
  });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf, uint64_t recvCount,
                              HcclDataType dataType, HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("sendCounts", sendCounts));
    RW_TRY(RequirePointer("sendDispls", sendDispls));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    RW_TRY_SET(const CommunicatorHold ranks, RequireCommunicator(comm));
    const Numbers counts = NumbersAt(sendCounts, ranks->size()), places = NumbersAt(sendDispls, ranks->size());
    return Submit("HcclReduceScatterV", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("recvCount", recvCount));
      RW_TRY(RequireReduction(dataType, op));
      RW_TRY(RequireAll("sendCounts", counts));
      if (SumOf(counts) == 0) return Ok();
      RW_TRY(RequirePointer("sendBuf", sendBuf));
      const uint64_t own = counts[communicator.rank()];
      if (recvCount != own) return Fail(HCCL_E_PARA, "recvCount is %lu, and sendCounts of this rank %lu", recvCount, own);
      RW_TRY(RequirePlaces("sendDispls", places));
      Describe("HcclReduceScatterV", Collective::kReduceScatter, dataType, call);
      call->kernel = FindReduceKernel(dataType, op);
      std::vector<Block> blocks = BlocksAt(counts, places, call->shape.element_bytes);
      SetBuffers(sendBuf, Extent(blocks), recvBuf, own * call->shape.element_bytes, call);
      call->shape.sends = std::move(blocks);
      return Ok();
    });
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (sendCount == 0) return Ok();
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("sendBuf", sendBuf));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    RW_TRY(RequirePointer("stream", stream));
    return Submit("HcclAllGather", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("sendCount", sendCount));
      RW_TRY(RequireType("dataType", dataType));
      Describe("HcclAllGather", Collective::kAllGather, dataType, call);
      const uint64_t bytes = sendCount * ElementBytes(dataType);
      call->shape.receives = Blocks::Equal(bytes);
      call->equal_blocks = true;
      SetBuffers(sendBuf, bytes, recvBuf, bytes * communicator.size(), call);
      return Ok();
    });
  });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts, const void* recvDispls,
                          HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("recvCounts", recvCounts));
    RW_TRY(RequirePointer("recvDispls", recvDispls));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("sendBuf", sendBuf));
    RW_TRY_SET(const CommunicatorHold ranks, RequireCommunicator(comm));
    const Numbers counts = NumbersAt(recvCounts, ranks->size()), places = NumbersAt(recvDispls, ranks->size());
    return Submit("HcclAllGatherV", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("sendCount", sendCount));
      RW_TRY(RequireType("dataType", dataType));
      RW_TRY(RequireAll("recvCounts", counts));
      if (SumOf(counts) == 0) return Ok();
      RW_TRY(RequirePointer("recvBuf", recvBuf));
      const uint64_t own = counts[communicator.rank()];
      if (sendCount != own) return Fail(HCCL_E_PARA, "sendCount is %lu, and recvCounts of this rank %lu", sendCount, own);
      RW_TRY(RequirePlaces("recvDispls", places));
      Describe("HcclAllGatherV", Collective::kAllGather, dataType, call);
      std::vector<Block> blocks = BlocksAt(counts, places, call->shape.element_bytes);
      SetBuffers(sendBuf, own * call->shape.element_bytes, recvBuf, Extent(blocks), call);
      call->shape.receives = std::move(blocks);
      return Ok();
    });
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("buf", buf));
    return Submit("HcclBroadcast", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("count", count));
      RW_TRY(RequireType("dataType", dataType));
      RW_TRY(RequireRankOf("root", root, communicator));
      Describe("HcclBroadcast", Collective::kBroadcast, dataType, call);
      call->shape.root = root;
      call->shape.bytes = count * ElementBytes(dataType);
      SetBuffers(nullptr, 0, buf, call->shape.bytes, call);
      return Ok();
    });
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root, HcclComm comm,
                       aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (recvCount == 0) return Ok();
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    RW_TRY(RequirePointer("stream", stream));
    {
      RW_TRY_SET(const CommunicatorHold ranks, RequireCommunicator(comm));
      if (root == ranks->rank()) RW_TRY(RequirePointer("sendBuf", sendBuf));
    }
    return Submit("HcclScatter", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireElements("recvCount", recvCount));
      RW_TRY(RequireType("dataType", dataType));
      RW_TRY(RequireRankOf("root", root, communicator));
      Describe("HcclScatter", Collective::kScatter, dataType, call);
      call->shape.root = root;
      call->shape.bytes = recvCount * ElementBytes(dataType);
      call->shape.sends = Blocks::Equal(call->shape.bytes);
      const bool is_root = root == communicator.rank();
      SetBuffers(sendBuf, is_root ? communicator.size() * call->shape.bytes : 0, recvBuf, call->shape.bytes, call);
      return Ok();
    });
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf, uint64_t recvCount,
                        HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (sendCount == 0 && recvCount == 0) return Ok();
    RW_TRY(RequirePointer("sendBuf", sendBuf));
    RW_TRY(RequirePointer("recvBuf", recvBuf));
    if (sendCount != recvCount) return Fail(HCCL_E_PARA, "sendCount is %lu and recvCount %lu: they must be equal", sendCount, recvCount);
    if (sendType != recvType) return Fail(HCCL_E_PARA, "sendType is %d and recvType %d: they must be equal", sendType, recvType);
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("comm", comm));
    return Submit("HcclAlltoAll", comm, stream, [=](const Communicator& communicator, CollectiveCall* call) -> Status {
      RW_TRY(RequireDifferent(sendBuf, recvBuf));
      RW_TRY(RequireElements("sendCount", sendCount));
      RW_TRY(RequireType("sendType", sendType));
      Describe("HcclAlltoAll", Collective::kAllToAll, HCCL_DATA_TYPE_INT8, call);
      const uint64_t each = sendCount * ElementBytes(sendType), all = each * communicator.size();
      call->shape.sends = call->shape.receives = Blocks::Equal(each);
      call->equal_blocks = true;
      SetBuffers(sendBuf, all, const_cast<void*>(recvBuf), all, call);
      return Ok();
    });
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls, HcclDataType sendType, const void* recvBuf,
                         const void* recvCounts, const void* rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("sendCounts", sendCounts));
    RW_TRY(RequirePointer("sdispls", sdispls));
    RW_TRY(RequirePointer("recvCounts", recvCounts));
    RW_TRY(RequirePointer("rdispls", rdispls));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY_SET(const CommunicatorHold ranks, RequireCommunicator(comm));
    const uint32_t size = ranks->size();
    const Numbers out = NumbersAt(sendCounts, size), out_at = NumbersAt(sdispls, size), in = NumbersAt(recvCounts, size),
                  in_at = NumbersAt(rdispls, size);
    return Submit("HcclAlltoAllV", comm, stream, [=](const Communicator&, CollectiveCall* call) -> Status {
      if (sendBuf != nullptr) RW_TRY(RequireDifferent(sendBuf, recvBuf));
      RW_TRY(RequireAll("sendCounts", out));
      RW_TRY(RequireAll("recvCounts", in));
      if (SumOf(out) > 0) RW_TRY(RequirePointer("sendBuf", sendBuf));
      if (SumOf(in) > 0) RW_TRY(RequirePointer("recvBuf", recvBuf));
      RW_TRY(RequireType("sendType", sendType));
      RW_TRY(RequireType("recvType", recvType));
      RW_TRY(RequirePlaces("sdispls", out_at));
      RW_TRY(RequirePlaces("rdispls", in_at));
      return AllToAll("HcclAlltoAllV", sendBuf, BlocksAt(out, out_at, ElementBytes(sendType)), recvBuf,
                      BlocksAt(in, in_at, ElementBytes(recvType)), call);
    });
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType, const void* recvBuf,
                          HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("sendCountMatrix", sendCountMatrix));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(const CommunicatorHold ranks, RequireCommunicator(comm));
    const uint32_t size = ranks->size(), own = ranks->rank();
    const Numbers matrix = NumbersAt(sendCountMatrix, size_t{size} * size);
    Numbers out, in;
    for (uint32_t rank = 0; rank < size; ++rank) {
      out.push_back(matrix[size_t{own} * size + rank]);
      in.push_back(matrix[size_t{rank} * size + own]);
    }
    return Submit("HcclAlltoAllVC", comm, stream, [=](const Communicator&, CollectiveCall* call) -> Status {
      RW_TRY(RequireAll("sendCountMatrix, own row", out));
      RW_TRY(RequireAll("sendCountMatrix, own column", in));
      if (SumOf(out) > 0) RW_TRY(RequirePointer("sendBuf", sendBuf));
      if (SumOf(in) > 0) RW_TRY(RequirePointer("recvBuf", recvBuf));
      RW_TRY(RequireType("sendType", sendType));
      RW_TRY(RequireType("recvType", recvType));
      return AllToAll("HcclAlltoAllVC", sendBuf, BlocksAt(out, PlacesOf(out), ElementBytes(sendType)), recvBuf,
                      BlocksAt(in, PlacesOf(in), ElementBytes(recvType)), call);
    });
  });
}
