// HcclMemcpyAsync and HcclD2DMemcpyAsync. The order of the checks is behaviour.
#include <atomic>

#include "acl/acl.h"
#include "hccl/dispatcher/dispatch.h"
#include "hccl/dispatcher/host_copy.h"
#include "hccl/dispatcher/pieces.h"
#include "hccl/dispatcher/runtime_names.h"
#include "hccl/link/remote_range.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

struct CopyRequest {
  void* dst;
  uint64_t dest_max;  // handed to the runtime with every piece, as the original does
  const void* src;
  uint64_t count;
  u32 rank;  // this and the next are labels: for records of the task, and for traces
  hccl::LinkType link;
  int runtime_kind = 0;

  CopyRequest Piece(uint64_t offset, uint64_t bytes) const {
    return {static_cast<u8*>(dst) + offset, dest_max, static_cast<const u8*>(src) + offset, bytes, rank, link, runtime_kind};
  }
};

std::atomic<uint64_t> g_max_piece{HCCL_SDMA_MAX_COUNT_4GB};

hccl::TaskPara CopyRecord(const CopyRequest& piece, u32 node) {
  hccl::TaskPara task{};
  task.type = hccl::TaskType::TASK_SDMA;
  task.dma = {piece.src, piece.dst, piece.count, INVALID_U64, piece.link, piece.rank, hccl::RdmaType::RDMA_TYPE_RESERVED, node};
  return task;
}

// One piece goes where its addresses are: through a link when one side is another host's, else to the runtime.
Status QueuePiece(const CopyRequest& piece, HcclRtStream stream) {
  Status status;
  if (RouteRemote(piece.dst, piece.src, piece.count, stream, &status)) return status;
  const Carrying carrying(Labelled(piece.rank, piece.link, piece.count));
  return FromRuntime("aclrtMemcpyAsync", aclrtMemcpyAsync(piece.dst, piece.dest_max, piece.src, piece.count,
                                                          static_cast<aclrtMemcpyKind>(piece.runtime_kind), stream));
}

Status CopyInStream(Dispatcher& dispatcher, const CopyRequest& request, hccl::Stream& stream) {
  const u64 begin_time = dispatcher.BeginTime();
  return ForEachPiece(request.count, 1, [&](uint64_t offset, uint64_t bytes) -> Status {
    const CopyRequest piece = request.Piece(offset, bytes);
    RW_TRY(QueuePiece(piece, stream.ptr()));
    if (dispatcher.observed()) dispatcher.Report(CopyRecord(piece, INVALID_UINT), stream, begin_time, false);
    return Ok();
  });
}

// What a recorded copy does when it is launched.
Status CopyRecorded(const CopyRequest& request, HcclRtStream stream) {
  return ForEachPiece(request.count, 1, [&](uint64_t offset, uint64_t bytes) { return QueuePiece(request.Piece(offset, bytes), stream); });
}

// rules/hccl-copy.md 1, steps 4 to 10: everything behind the pointers.
Status Copy(Dispatcher& dispatcher, CopyRequest request, HcclRtMemcpyKind kind, hccl::Stream& stream) {
  if (stream.ptr() == nullptr) return CopyOnHost(request.dst, request.dest_max, request.src, request.count);
  if (request.count == 0 || request.src == request.dst) return Ok();
  if (request.dest_max < request.count)
    return Fail(HCCL_E_PARA, "count %llu exceeds destMax %llu", static_cast<unsigned long long>(request.count),
                static_cast<unsigned long long>(request.dest_max));
  RW_TRY_SET(request.runtime_kind, RuntimeKind(kind));
  return CopyInStream(dispatcher, request, stream);
}

Status RequireFit(const hccl::DeviceMem& dst, const hccl::DeviceMem& src) {
  RW_TRY(RequirePointer("dst", dst.ptr()));
  RW_TRY(RequirePointer("src", src.ptr()));
  if (dst.size() >= src.size()) return Ok();
  return Fail(HCCL_E_PTR, "dst has %llu bytes, src has %llu; make dst as large as src", dst.size(), src.size());
}

// Whether a copy between device ranges was kept for later: noted by a virtual dispatcher, or recorded.
bool KeepForLater(Dispatcher& dispatcher, const CopyRequest& request, hccl::Stream& stream) {
  if (dispatcher.is_virtual()) {
    hccl::TaskLogicInfo note{request.dst, request.dest_max, request.src, request.count};
    stream.PushTaskLogicInfo(note);
    return true;
  }
  u32 index = 0;
  if (!dispatcher.recording_open()) return false;
  if (!dispatcher.Record({stream.ptr(), [request](HcclRtStream on) { return CopyRecorded(request, on); }}, &index)) return false;
  dispatcher.Report(CopyRecord(request, index), stream, dispatcher.BeginTime(), true);
  return true;
}

}  // namespace

uint64_t MaxPieceBytes() { return g_max_piece.load(std::memory_order_relaxed); }
void SetMaxPieceBytesForTest(uint64_t bytes) { g_max_piece.store(bytes, std::memory_order_relaxed); }

}  // namespace ropeway::comm

// remoteUserRank and linkType are labels for the task record: the addresses decide where the bytes go.
HcclResult HcclMemcpyAsync(HcclDispatcher dispatcherPtr, void* dst, const uint64_t destMax, const void* src, const uint64_t count,
                           const HcclRtMemcpyKind kind, hccl::Stream& stream, const u32 remoteUserRank, hccl::LinkType linkType) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    RW_TRY(RequirePointer("dst", dst));
    RW_TRY(RequirePointer("src", src));
    return Copy(*dispatcher, {dst, destMax, src, count, remoteUserRank, linkType}, kind, stream);
  });
}

HcclResult HcclD2DMemcpyAsync(HcclDispatcher dispatcherPtr, hccl::DeviceMem& dst, const hccl::DeviceMem& src, hccl::Stream& stream,
                              u32 remoteUserRank, hccl::LinkType inLinkType) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    RW_TRY(RequireFit(dst, src));
    const CopyRequest request{dst.ptr(), dst.size(), src.ptr(), src.size(), remoteUserRank, inLinkType, ACL_MEMCPY_DEVICE_TO_DEVICE};
    const bool moves = request.count > 0 && request.src != request.dst;
    if (moves && KeepForLater(*dispatcher, request, stream)) return Ok();
    return Copy(*dispatcher, request, HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE, stream);
  });
}
