// Two-dimensional copies (rules/copies.md 4).
#include "api/entry.h"
#include "runtime/capture_mode.h"
#include "runtime/transfer.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kMaxHeight = 5 * 1024 * 1024;
constexpr size_t kMaxWidth = 5000000;

struct Rows {
  void* dst;
  size_t dpitch;
  const void* src;
  size_t spitch;
  size_t width;
  size_t height;
};

Status RequireShape(const Rows& rows, aclrtMemcpyKind kind) {
  RW_TRY(RequirePointer("dst", rows.dst));
  RW_TRY(RequirePointer("src", rows.src));
  if (rows.width > rows.spitch || rows.width > rows.dpitch)
    return Reject(ACL_ERROR_INVALID_PARAM, "width %zu exceeds a pitch (spitch %zu, dpitch %zu)", rows.width, rows.spitch, rows.dpitch);
  if (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT)
    return Reject(ACL_ERROR_INVALID_PARAM, "kind %d (%s) is not for a 2-D copy; use 1 to 4", static_cast<int>(kind), KindName(kind));
  return Ok();
}

Status RequireSize(const Rows& rows) {
  if (rows.height > kMaxHeight)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "height %zu exceeds the limit of %zu rows", rows.height, kMaxHeight);
  if (rows.width > kMaxWidth) return Fail(ACL_ERROR_RT_PARAM_INVALID, "width %zu exceeds the limit of %zu bytes", rows.width, kMaxWidth);
  return Ok();
}

// Bytes from the first of the first row to the last of the last row; SIZE_MAX when they do not fit the address space.
size_t Extent(size_t pitch, size_t width, size_t height) {
  size_t extent;
  if (__builtin_mul_overflow(pitch, height - 1, &extent) || __builtin_add_overflow(extent, width, &extent)) return SIZE_MAX;
  return extent;
}

bool IsHost(Place place) { return place == Place::kPinned || place == Place::kPageable; }

// Finds both sides and the direction, which is never host to host.
Status Resolve(const Rows& rows, aclrtMemcpyKind kind, Transfer* transfer, aclrtMemcpyKind* direction) {
  const size_t dst_extent = Extent(rows.dpitch, rows.width, rows.height);
  const size_t src_extent = Extent(rows.spitch, rows.width, rows.height);
  RW_TRY(Locate(rows.dst, dst_extent, rows.src, src_extent, transfer));
  const Direction corrected = CorrectKind(transfer->from.place, transfer->to.place, kind);
  const bool no_device = IsHost(transfer->from.place) && IsHost(transfer->to.place);
  if (!corrected.accepted || no_device)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind %s does not fit: src %p is %s and dst %p is %s", KindName(kind), rows.src,
                PlaceName(transfer->from.place), rows.dst, PlaceName(transfer->to.place));
  if (dst_extent == SIZE_MAX || src_extent == SIZE_MAX)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "height %zu times pitch (spitch %zu, dpitch %zu) leaves the address space", rows.height,
                rows.spitch, rows.dpitch);
  *direction = corrected.kind;
  return Ok();
}

Task TaskOf(const Rows& rows, const char* call) {
  return RowsTask(rows.dst, rows.dpitch, rows.src, rows.spitch, rows.width, rows.height, call);
}

Status CopyNow(const Rows& rows, const Transfer& transfer, int device, const char* call) {
  RW_TRY(RequireReach(transfer, device));
  return RunNow(TaskOf(rows, call));
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind) {
  return Entry(__func__, [&]() -> Status {
    if (width == 0 || height == 0) return Ok();
    const Rows rows{dst, dpitch, src, spitch, width, height};
    RW_TRY(RequireShape(rows, kind));
    RW_TRY(RequireSize(rows));
    if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE)
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind %s is for aclrtMemcpy2dAsync only", KindName(kind));
    RW_TRY_SET(Context * context, CurrentContext());
    SyncOperation in_progress;
    Transfer transfer;
    aclrtMemcpyKind direction;
    RW_TRY(Resolve(rows, kind, &transfer, &direction));
    if (direction == ACL_MEMCPY_DEVICE_TO_DEVICE)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "both sides are device memory; use aclrtMemcpy2dAsync");
    if (direction == ACL_MEMCPY_DEFAULT)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "a side is managed memory, so kind ACL_MEMCPY_DEFAULT has no direction; say which");
    RW_TRY(RequireUnsafeAllowed(*context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT));
    return CopyNow(rows, transfer, context->device(), "aclrtMemcpy2d");
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind,
                            aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (width == 0 || height == 0) return Ok();
    const Rows rows{dst, dpitch, src, spitch, width, height};
    RW_TRY(RequireShape(rows, kind));
    RW_TRY_SET(StreamRef target, FindStream(stream));
    if (stream == nullptr && !CurrentContext().ok())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL and the calling thread has no context whose default stream it could be");
    RW_TRY(RequireSize(rows));
    RW_TRY_SET(Context * context, CurrentContext());
    Transfer transfer;
    aclrtMemcpyKind direction;
    RW_TRY(Resolve(rows, kind, &transfer, &direction));
    if (transfer.any_pageable() && direction != ACL_MEMCPY_DEVICE_TO_DEVICE) {
      RW_TRY_SET(StreamHold drained, HoldStream(stream, context));
      if (drained->capturing()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "a copy of pageable memory cannot be captured; use pinned memory");
      RW_TRY(RequireUnsafeAllowed(*context, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC));
      RW_TRY(drained->Synchronize(Deadline::Never()));
      SyncOperation in_progress;
      return CopyNow(rows, transfer, context->device(), "aclrtMemcpy2dAsync");
    }
    RW_TRY(OrDefault(target, *context).stream->RequireContext(&context->scope()));
    RW_TRY(RequireReach(transfer, context->device()));
    Task task = TaskOf(rows, "aclrtMemcpy2dAsync");
    if (transfer.any_pageable()) {
      task.kind = TaskKind::kFail;
      task.fail = {transfer.to.place == Place::kPageable ? dst : src, ACL_ERROR_RT_SYS_DMA};
    }
    return Submit(target, *context, task);
  });
}
