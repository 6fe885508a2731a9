// HcclReduceAsync. Where the runtime's copy engine can reduce, it does; the CPU does the rest, in stream order.
#include <cstring>
#include <limits>
#include <memory>

#include "acl/acl.h"
#include "dtype_common.h"
#include "hccl/base/reduce_kernel.h"
#include "hccl/dispatcher/dispatch.h"
#include "hccl/dispatcher/pieces.h"
#include "hccl/dispatcher/runtime_names.h"
#include "ropeway/kernel.h"
#include "ropeway/ropeway.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

struct ReduceRequest {
  void* dst;
  const void* src;
  uint64_t bytes;
  HcclDataType type;
  HcclReduceOp op;
  bool is_inline;
  u32 rank;  // as for copies
  hccl::LinkType link;

  ReduceRequest Piece(uint64_t offset, uint64_t piece_bytes) const {
    return {static_cast<u8*>(dst) + offset, static_cast<const u8*>(src) + offset, piece_bytes, type, op, is_inline, rank, link};
  }
};

// What the copy engine calls a type; ACL_DT_UNDEFINED for one that it does not reduce.
aclDataType EngineType(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8: return ACL_INT8;
    case HCCL_DATA_TYPE_INT16: return ACL_INT16;
    case HCCL_DATA_TYPE_INT32: return ACL_INT32;
    case HCCL_DATA_TYPE_FP16: return ACL_FLOAT16;
    case HCCL_DATA_TYPE_FP32: return ACL_FLOAT;
    case HCCL_DATA_TYPE_BFP16: return ACL_BF16;
    default: return ACL_DT_UNDEFINED;
  }
}

aclrtReduceKind EngineKind(HcclReduceOp op) {
  if (op == HCCL_REDUCE_MAX) return ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
  return op == HCCL_REDUCE_MIN ? ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN : ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
}

Status RequireReducible(HcclDataType type, HcclReduceOp op, bool is_inline) {
  const bool known = is_inline
                         ? EngineType(type) != ACL_DT_UNDEFINED && (op == HCCL_REDUCE_SUM || op == HCCL_REDUCE_MAX || op == HCCL_REDUCE_MIN)
                         : type != HCCL_DATA_TYPE_INT128 && FindReduceKernel(type, op) != nullptr;
  if (known) return Ok();
  return Fail(HCCL_E_PARA, "datatype %d cannot be reduced with reduceOp %d%s", static_cast<int>(type), static_cast<int>(op),
              is_inline ? " by the copy engine; clear bit 0 of reduceAttr for other types and products" : "");
}

// Whether an operand is on another device than the current one; that needs peer access.
Status IsOnPeer(const char* name, const void* address, bool* answer) {
  int32_t current = 0;
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&current)));
  aclrtPtrAttributes attributes{};
  RW_TRY(FromRuntime("aclrtPointerGetAttributes", aclrtPointerGetAttributes(address, &attributes)));
  const auto device = static_cast<int32_t>(attributes.location.id);
  *answer = attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && device != current;
  if (!*answer) return Ok();
  int32_t enabled = 0;
  RW_TRY(FromRuntime("aclrtDevicePeerAccessStatus", aclrtDevicePeerAccessStatus(current, device, &enabled)));
  if (enabled != 0) return Ok();
  return Fail(HCCL_E_RUNTIME, "%s %p is on device %d, which device %d has no access to; call hccl::P2PMgmtPub::EnableP2P", name, address,
              device, current);
}

struct HostReduction {
  ReduceKernel kernel;
  void* dst;
  const void* src;
  uint64_t count;

  static void Start(void* argument, ropewayOperation operation) {
    const std::unique_ptr<HostReduction> self(static_cast<HostReduction*>(argument));
    self->kernel(self->dst, self->dst, self->src, self->count);
    ropewayFinishOperation(operation, ACL_SUCCESS, nullptr);
  }
  // Once started, it finishes before Start returns, and is gone.
  static void Drop(void* argument, int32_t started) {
    if (started == 0) delete static_cast<HostReduction*>(argument);
  }
};

// Where the CPU cannot reach the memory (a GPU's), a kernel by stand-in reduces, which has copies of it.
constexpr char kStandIn[] = "ropeway_hccl_reduce";
struct StandInArguments {
  void* dst;
  const void* src;
  uint64_t bytes;
  HcclDataType type;
  HcclReduceOp op;
};
void ReduceCopies(const ropewayKernelLaunch* launch) {
  StandInArguments arguments;
  std::memcpy(&arguments, launch->args, sizeof arguments);
  void* const dst = ropewayKernelView(launch, arguments.dst, arguments.bytes);
  const void* const src = ropewayKernelView(launch, arguments.src, arguments.bytes);
  if (dst == nullptr || src == nullptr) return;  // the stream says which one is not there
  FindReduceKernel(arguments.type, arguments.op)(dst, dst, src, arguments.bytes / SIZE_TABLE[arguments.type]);
}

Status QueueCopies(const ReduceRequest& request, HcclRtStream stream) {
  static const aclError registered = ropewayRegisterKernel(kStandIn, &ReduceCopies);
  RW_TRY(FromRuntime("ropewayRegisterKernel", registered));
  const StandInArguments arguments{request.dst, request.src, request.bytes, request.type, request.op};
  return FromRuntime("ropewayLaunchKernel", ropewayLaunchKernel(kStandIn, 1, &arguments, sizeof arguments, stream));
}

Status QueueByCpu(const ReduceRequest& request, HcclRtStream stream) {
  auto work = std::make_unique<HostReduction>();
  void* src_view = nullptr;
  const aclError reach = ropewayHostView(request.dst, request.bytes, &work->dst);
  if (reach == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    aclGetRecentErrMsg();
    return QueueCopies(request, stream);
  }
  RW_TRY(FromRuntime("ropewayHostView", reach));
  RW_TRY(FromRuntime("ropewayHostView", ropewayHostView(const_cast<void*>(request.src), request.bytes, &src_view)));
  work->src = src_view;
  work->kernel = FindReduceKernel(request.type, request.op);
  work->count = request.bytes / SIZE_TABLE[request.type];
  RW_TRY(FromRuntime("ropewayLaunchOperation", ropewayLaunchOperation(&HostReduction::Start, &HostReduction::Drop, work.get(), stream)));
  work.release();
  return Ok();
}

Status QueuePiece(const ReduceRequest& piece, HcclRtStream stream) {
  bool dst_on_peer = false;
  bool src_on_peer = false;
  RW_TRY(IsOnPeer("dst", piece.dst, &dst_on_peer));
  RW_TRY(IsOnPeer("src", piece.src, &src_on_peer));
  const Carrying carrying(Labelled(piece.rank, piece.link, piece.bytes));
  if (!piece.is_inline || dst_on_peer || src_on_peer) return QueueByCpu(piece, stream);
  return FromRuntime("aclrtReduceAsync",
                     aclrtReduceAsync(piece.dst, piece.src, piece.bytes, EngineKind(piece.op), EngineType(piece.type), stream, nullptr));
}

// What a recorded reduction does when it is launched.
Status ReduceRecorded(const ReduceRequest& request, HcclRtStream stream) {
  return ForEachPiece(request.bytes, SIZE_TABLE[request.type],
                      [&](uint64_t offset, uint64_t bytes) { return QueuePiece(request.Piece(offset, bytes), stream); });
}

// The peer is told of reductions by the copy engine only.
hccl::TaskPara ReduceRecord(const ReduceRequest& request, u32 node) {
  hccl::TaskPara task{};
  task.type = request.is_inline ? hccl::TaskType::TASK_REDUCE_INLINE : hccl::TaskType::TASK_REDUCE_TBE;
  task.reduce = {request.src,
                 request.dst,
                 request.bytes,
                 request.op,
                 request.type,
                 request.is_inline ? request.link : hccl::LinkType::LINK_ONCHIP,
                 request.is_inline ? request.rank : INVALID_VALUE_RANKID,
                 node};
  return task;
}

Status Reduce(Dispatcher& dispatcher, const ReduceRequest& request, hccl::Stream& stream) {
  const u64 begin_time = dispatcher.BeginTime();
  u32 index = INVALID_UINT;
  if (dispatcher.Record({stream.ptr(), [request](HcclRtStream on) { return ReduceRecorded(request, on); }}, &index)) {
    dispatcher.Report(ReduceRecord(request, index), stream, begin_time, true);
    return Ok();
  }
  return ForEachPiece(request.bytes, SIZE_TABLE[request.type], [&](uint64_t offset, uint64_t bytes) -> Status {
    const ReduceRequest piece = request.Piece(offset, bytes);
    RW_TRY(QueuePiece(piece, stream.ptr()));
    dispatcher.Report(ReduceRecord(piece, INVALID_UINT), stream, begin_time, false);
    return Ok();
  });
}

}  // namespace
}  // namespace ropeway::comm

// count is in elements, and src comes before dst: both the other way round than in HcclMemcpyAsync.
HcclResult HcclReduceAsync(HcclDispatcher dispatcherPtr, void* src, uint64_t count, const HcclDataType datatype,
                           const HcclReduceOp reduceOp, hccl::Stream& stream, void* dst, const u32 remoteUserRank,
                           const hccl::LinkType linkType, const u64 reduceAttr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    RW_TRY(RequirePointer("src", src));
    RW_TRY(RequirePointer("dst", dst));
    RW_TRY(RequirePointer("the stream's handle", stream.ptr()));
    if (count == 0) return Ok();
    const bool is_inline = (reduceAttr & INLINE_REDUCE_BITMASK) != 0;
    RW_TRY(RequireReducible(datatype, reduceOp, is_inline));
    const uint64_t size = SIZE_TABLE[datatype];
    if (count > std::numeric_limits<uint64_t>::max() / size)
      return Fail(HCCL_E_PARA, "count %llu of %llu-byte elements exceeds all memory", static_cast<unsigned long long>(count),
                  static_cast<unsigned long long>(size));
    return Reduce(*dispatcher, {dst, src, count * size, datatype, reduceOp, is_inline, remoteUserRank, linkType}, stream);
  });
}
