// One-dimensional copies (rules/copies.md 1 to 3). The order of the checks is behaviour.
#include <cstdlib>

#include "api/entry.h"
#include "base/config.h"
#include "runtime/capture_mode.h"
#include "runtime/transfer.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status RequireSingleCopyKind(aclrtMemcpyKind kind) {
  if (static_cast<unsigned>(kind) <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) [[likely]]
    return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "kind %d (%s) is not for this call; use 0 to 5", static_cast<int>(kind), KindName(kind));
}

Status RequireDestMax(size_t count, size_t destMax) {
  if (count <= destMax) [[likely]]
    return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "count %zu exceeds destMax %zu; copy less, or pass all the room that dst has", count, destMax);
}

Status HostToHostRefused() {
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              "a host-to-host copy cannot be asynchronous; use aclrtMemcpy, or memcpy in a host function");
}

// The rest of a synchronous copy behind its argument checks; also what an asynchronous copy of pageable memory becomes.
// `forbidden` is the answer when a capture does not allow it.
Status CopyNow(const Transfer& transfer, size_t count, Context& context, int forbidden, const char* call) {
  const int device = context.device();
  if (Runtime::Get().device(device).aborting()) return Fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, "the device is aborting its tasks");
  RW_TRY(RequireUnsafeAllowed(context, forbidden));
  if (!IsPlain(transfer.to, count, device) || !IsPlain(transfer.from, count, device)) [[unlikely]]
    RW_TRY(RequireReach(transfer, device));
  return RunNow(CopyTask(Runtime::Get(), transfer.dst, transfer.src, count, call));
}

// Pageable memory: the stream is drained (a failure of its work comes out here), then the copy is done by the caller.
Status CopyPageable(const Transfer& transfer, size_t count, aclrtStream stream, Context& context, const char* call) {
  RW_TRY_SET(StreamHold target, HoldStream(stream, &context));
  if (target->capturing())
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                "src %p is %s and dst %p is %s; a copy of pageable memory cannot be captured, use pinned memory", transfer.src,
                PlaceName(transfer.from.place), transfer.dst, PlaceName(transfer.to.place));
  RW_TRY(RequireUnsafeAllowed(context, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC));
  RW_TRY(RequireAlignment("dst", transfer.dst, "src", transfer.src));
  RW_TRY(target->Synchronize(Deadline::Never()));
  SyncOperation in_progress;
  return CopyNow(transfer, count, context, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC, call);
}

// Kind 5: the source is copied during the call, so the caller may reuse it at once; into a buffer of ours where the stream is not so far.
Status CopyStaged(const Transfer& transfer, size_t count, StreamRef stream, Context& context, const char* call) {
  if (transfer.from.place == Place::kDevice || transfer.to.place != Place::kDevice)
    return Fail(ACL_ERROR_RT_PARAM_INVALID,
                "kind ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE goes from host to device memory, but src is %s and dst is %s",
                PlaceName(transfer.from.place), PlaceName(transfer.to.place));
  RW_TRY(RequireQueuedReach(transfer, *OrDefault(stream, context).stream, context));
  if (Runtime::Get().traits().reads_at_once && MayBeDoneNow(stream, context)) {
    SyncOperation in_progress;
    return RunNow(CopyTask(Runtime::Get(), transfer.dst, transfer.src, count, call));
  }
  constexpr size_t kAlignment = 64;
  if (count > SIZE_MAX - kAlignment) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "count %zu cannot be staged", count);
  void* staging = std::aligned_alloc(kAlignment, (count + kAlignment - 1) / kAlignment * kAlignment);
  if (staging == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory to stage count %zu", count);
  Status status = RunPart(CopyTask(Runtime::Get(), staging, transfer.src, count, call));
  Task task = CopyTask(Runtime::Get(), transfer.dst, staging, count, call);
  task.flags = Task::kOwnsPayload;
  if (status.ok()) status = Submit(stream, context, task);
  if (!status.ok()) std::free(staging);
  return status;
}

Status FailTaskInstead(const Transfer& transfer, StreamRef stream, Context& context, const char* call) {
  Task task{};
  task.kind = TaskKind::kFail;
  task.call = call;
  task.fail.address = transfer.to.place == Place::kPageable ? transfer.dst : transfer.src;
  task.fail.code = ACL_ERROR_RT_SYS_DMA;
  return Submit(stream, context, task);
}

// Freed memory, kind 5, copies with a pageable side, whose kind is checked, and with a managed side, whose kind is not.
Status CopyByPlaces(void* dst, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream, Context& context,
                    const char* call) {
  Transfer transfer;
  RW_TRY(Locate(dst, count, src, count, &transfer));
  RW_TRY_SET(StreamRef target, FindStream(stream));
  const StreamRef on = OrDefault(target, context);
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) return CopyStaged(transfer, count, on, context, call);
  const Direction direction = CorrectKind(transfer.from.place, transfer.to.place, kind);
  if (!direction.accepted)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind %s does not fit: src %p is %s and dst %p is %s", KindName(kind), transfer.src,
                PlaceName(transfer.from.place), transfer.dst, PlaceName(transfer.to.place));
  if (direction.kind == ACL_MEMCPY_HOST_TO_HOST) return HostToHostRefused();
  if (transfer.dst == transfer.src) return Ok();
  const bool pageable = transfer.any_pageable();
  if (pageable && direction.kind != ACL_MEMCPY_DEVICE_TO_DEVICE) return CopyPageable(transfer, count, stream, context, call);
  RW_TRY(RequireQueuedReach(transfer, *on.stream, context));
  if (pageable) return FailTaskInstead(transfer, on, context, call);
  Task task = CopyTask(Runtime::Get(), dst, src, count, call);
  return Submit(on, context, task);
}

[[gnu::noinline]] Status CopySpecial(void* dst, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream, Context& context,
                                     const CallSite& site) {
  return OffTheCommonWay(site, [&] { return CopyByPlaces(dst, src, count, kind, stream, context, site.call); });
}

// The kinds beside 1 to 4: unknown ones, host to host, and host to buffer to device.
[[gnu::noinline]] Status CopyOddKind(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream,
                                     const CallSite& site) {
  return OffTheCommonWay(site, [&]() -> Status {
    RW_TRY(RequireSingleCopyKind(kind));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY(RequireDestMax(count, destMax));
    if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && found.stream != nullptr && found.stream->capturing())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE cannot be captured; copy from pinned memory");
    RW_TRY_SET(Context * context, CurrentContext());
    if (kind == ACL_MEMCPY_HOST_TO_HOST) return HostToHostRefused();
    return CopyByPlaces(dst, src, count, kind, stream, *context, site.call);
  });
}

// The long way of a submit, which somebody may watch.
[[gnu::noinline, gnu::cold]] Status EnqueueNoted(StreamRef stream, const FailureScope* scope, Task& task, const void* caller) {
  return OffTheCommonWay({caller, task.call}, [&] {
    uint64_t sequence;
    return stream.stream->EnqueueNumbered(stream.generation, scope, task, &sequence);
  });
}

// Nothing is to be copied: no bytes, or bytes onto themselves.
[[gnu::noinline, gnu::cold]] Status CopyNothing(const char* call, const void* caller) {
  return OffTheCommonWay({caller, call}, [] { return InForkedChild() ? RefuseForkedChild() : Ok(); });
}

// A copy that crosses devices, leaves a block, or is subject to strict alignment.
[[gnu::noinline]] Status CheckReach(void* dst, const void* src, size_t count, const Stream& stream, Context& context) {
  Transfer transfer;
  RW_TRY(Locate(dst, count, src, count, &transfer));
  return RequireQueuedReach(transfer, stream, context);
}

// All checks in their order.
[[gnu::noinline]] Status CopyTheLongWay(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream,
                                        const CallSite& site) {
  if (count == 0) [[unlikely]]
    return CopyNothing(site.call, site.caller);
  RW_TRY(RequirePointer("dst", dst));
  RW_TRY(RequirePointer("src", src));
  if (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT) [[unlikely]]
    return CopyOddKind(dst, destMax, src, count, kind, stream, site);
  RW_TRY_SET(StreamRef target, FindStream(stream));
  RW_TRY(RequireDestMax(count, destMax));
  Context* context = CurrentContextOrNull();
  if (context == nullptr) [[unlikely]] {
    RW_TRY(FindContextSlowly().status());  // which may have set the device that the init file names
    context = t_state.context;
  }

  Runtime& runtime = Runtime::Get();
  const Memory& memory = runtime.memory();
  const Location to = memory.Find(dst, count);
  const Location from = memory.Find(src, count);
  const PlacePair pair = Pair(to.place, from.place);
  if (pair > PlacePair::kRuntimeWithDevice) [[unlikely]]
    return CopySpecial(dst, src, count, kind, stream, *context, site);
  // Memory of the runtime on both sides: whatever the kind says, the places decide (rules/places.md 2).
  if (pair == PlacePair::kBothPinned) [[unlikely]]
    return HostToHostRefused();
  if (dst == src) [[unlikely]]
    return CopyNothing(site.call, site.caller);
  const StreamRef on = OrDefault(target, *context);
  const int device = context->device();
  if (!IsPlain(to, count, device) || !IsPlain(from, count, device) || runtime.strict_alignment()) [[unlikely]]
    RW_TRY(CheckReach(dst, src, count, *on.stream, *context));
  Task task = CopyTask(runtime, dst, src, count, site.call);
  if (on.stream->EnqueuePlainly(on.generation, &context->scope(), task, site.caller)) [[likely]]
    return Ok();
  return EnqueueNoted(on, &context->scope(), task, site.caller);
}

// The usual copy: memory of the runtime on both sides, of this device or pinned, and nothing to refuse. What a submit costs is counted in
// instructions, so it is one look at each thing, and what is not so is left to the long way: nothing has happened then.
[[gnu::always_inline]] inline bool CopyPlainly(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                               aclrtStream stream, const char* call, const void* caller) {
  if (count - 1 >= destMax || kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEFAULT) [[unlikely]]
    return false;
  Context* const context = CurrentContextOrNull();
  if (context == nullptr) [[unlikely]]
    return false;
  Stream* const target = Streams().Find(stream);
  if (target == nullptr || dst == src) [[unlikely]]
    return false;
  Runtime& runtime = Runtime::Get();
  const Memory& memory = runtime.memory();
  const int device = context->device();
  size_t to = memory.RoomOnDevice(dst, device);
  size_t from = memory.RoomOnDevice(src, device);
  if (to == 0 && from != 0) to = memory.RoomInPinned(dst);
  if (from == 0) from = memory.RoomInPinned(src);
  if (to < count || from < count || runtime.strict_alignment()) [[unlikely]]
    return false;
  Task task = CopyTask(runtime, dst, src, count, call);
  return target->EnqueuePlainly(StreamSlab::GenerationOf(stream), &context->scope(), task, caller);
}

[[gnu::always_inline]] inline Status CopyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                               aclrtStream stream, const char* call) {
  if (CopyPlainly(dst, destMax, src, count, kind, stream, call, __builtin_return_address(0))) [[likely]]
    return Ok();
  return CopyTheLongWay(dst, destMax, src, count, kind, stream, {__builtin_return_address(0), call});
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    RW_TRY(RequirePointer("dst", dst));
    RW_TRY(RequirePointer("src", src));
    RW_TRY(RequireSingleCopyKind(kind));
    RW_TRY(RequireDestMax(count, destMax));
    if (dst == src) return Ok();
    RW_TRY_SET(Context * context, CurrentContext());
    TheEngine().ExpectCopy(dst, src, count);
    SyncOperation in_progress;
    Transfer transfer;
    RW_TRY(Locate(dst, count, src, count, &transfer));
    return CopyNow(transfer, count, *context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, "aclrtMemcpy");
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  return HotEntry(
      __func__, [&]() __attribute__((always_inline)) { return CopyAsync(dst, destMax, src, count, kind, stream, "aclrtMemcpyAsync"); });
}

// Insists that pinned and pageable memory can be told apart, which is always so here.
aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  return HotEntry(
      __func__, [&]() __attribute__((always_inline)) {
        return CopyAsync(dst, destMax, src, count, kind, stream, "aclrtMemcpyAsyncWithCondition");
      });
}
