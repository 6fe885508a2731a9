#include "runtime/transfer.h"

#include "acl/acl_rt.h"
#include "runtime/product.h"

namespace ropeway {
namespace {

Status RequirePeer(const char* name, const Location& location, int executing_device) {
  if (location.place != Place::kDevice || location.device == executing_device) [[likely]]
    return Ok();
  if (!ThisProduct().peers_need_enabling || Runtime::Get().device(executing_device).CanReach(location.device)) return Ok();
  const int here = Runtime::UserIdOf(executing_device);
  const int there = Runtime::UserIdOf(location.device);
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              "%s is on device %d, which device %d has no access to; call aclrtDeviceEnablePeerAccess(%d, 0) on device %d first", name,
              there, here, there, here);
}

}  // namespace

Status ExplainAlignment(const char* dst_name, const void* dst, const char* src_name, const void* src) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p and %s %p must both be aligned to 64 bytes (ROPEWAY_STRICT_ALIGNMENT is on)", dst_name,
              dst, src_name, src);
}

Status RequireReach(const Transfer& transfer, int executing_device) {
  RW_TRY(Runtime::Get().memory().RequireRoom("dst", transfer.dst, transfer.dst_extent, transfer.to));
  RW_TRY(Runtime::Get().memory().RequireRoom("src", transfer.src, transfer.src_extent, transfer.from));
  RW_TRY(RequirePeer("dst", transfer.to, executing_device));
  return RequirePeer("src", transfer.from, executing_device);
}

Status RequireQueuedReach(const Transfer& transfer, const Stream& stream, Context& context) {
  RW_TRY(stream.RequireContext(&context.scope()));
  RW_TRY(RequireAlignment("dst", transfer.dst, "src", transfer.src));
  return RequireReach(transfer, context.device());
}

Task RowsTask(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height, const char* call) {
  Task task{};
  task.kind = TaskKind::kCopy2d;
  task.method = PlanRows(width, height, Runtime::Get().traits()).method;
  task.call = call;
  task.copy_2d = {dst, src, dst_pitch, src_pitch, width, height};
  return task;
}

}  // namespace ropeway
