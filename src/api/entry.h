// The shape of every API function: resolve, describe, hand on. Here alone a Status becomes an aclError, exceptions end, and the
// thread's error text is filed; and here a forked child of a process with devices is refused (base/fork.h).
#pragma once

#include "acl/acl_rt.h"
#include "base/call_site.h"
#include "base/faults.h"
#include "base/fork.h"
#include "base/race_detector.h"
#include "base/status.h"
#include "engine/watcher.h"
#include "runtime/runtime.h"
#include "runtime/thread_state.h"
#include "stream/stream.h"

namespace ropeway::api {

// Files the text of a failure and returns its code.
[[gnu::cold]] aclError FileFailure(const char* call, const Status& status, const void* caller);
[[gnu::cold]] aclError FileHotFailure(const char* call, const Status& status, const void* caller);

// What exceptions mean, too, is a Status.
template <typename Body>
[[gnu::always_inline]] inline Status Run(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return FromException(ACL_ERROR_RT_MEMORY_ALLOCATION, ACL_ERROR_RT_INTERNAL_ERROR);
  }
}

// What the rules of ROPEWAY_FAULTS do to a call of the current context's device (docs/faults.md), where there are any.
[[gnu::cold]] Status StrikeCall(const char* call);
[[gnu::always_inline]] inline Status CallFault(const char* call) {
  if (CurrentFaultState() == FaultState::kNone) [[likely]]
    return Ok();
  return StrikeCall(call);
}
// 207001 when a rule says that there is no memory for this. `device`: -1 for host memory.
[[gnu::cold]] Status StrikeMemory(const char* call, int device, size_t size);
inline Status MemoryFault(const char* call, int device, size_t size) { return FaultsAreOn() ? StrikeMemory(call, device, size) : Ok(); }

// Inlined into the function of the API: where that returns to is where the program called.
[[gnu::always_inline]] inline void NoteCall(const char* call) { t_call_site = {__builtin_return_address(0), call}; }

// For what needs no device and takes no lock that fork does not wait for: counts, versions, names, error texts.
template <typename Body>
[[gnu::always_inline]] inline aclError PlainEntry(const char* call, Body&& body) noexcept {
  NoteCall(call);
  const race_detector::OurCode ours;
  WatchedCall watched(call);
  const Status status = Run(body);
  if (status.ok()) [[likely]]
    return ACL_SUCCESS;
  return watched.Failed(FileFailure(call, status, __builtin_return_address(0)));
}

// For everything else.
template <typename Body>
[[gnu::always_inline]] inline aclError Entry(const char* call, Body&& body) noexcept {
  if (InForkedChild()) [[unlikely]]
    return FileFailure(call, RefuseForkedChild(), __builtin_return_address(0));
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(CallFault(call));
    return body();
  });
}

// For the copies whose instructions are counted. In front of CurrentContext, which a forked child has none of, they take no lock;
// so it is enough to look when they fail. A body that succeeds without a context looks by itself. What leaves the common way does so by
// OffTheCommonWay, which notes the call; a stream that is watched notes it by itself.
template <typename Body>
[[gnu::always_inline]] inline aclError HotEntry(const char* call, Body&& body) noexcept {
  const race_detector::OurCode ours;
  const Status status = Run(body);
  if (status.ok()) [[likely]]
    return ACL_SUCCESS;
  return FileHotFailure(call, status, __builtin_return_address(0));
}

// A failure that whoever watches has been told of, on its way to FileHotFailure.
inline thread_local bool t_failure_told = false;

template <typename Body>
Status OffTheCommonWay(const CallSite& site, Body&& body) {
  t_call_site = site;
  WatchedCall watched(site.call);
  Status status = CallFault(site.call);
  if (status.ok()) status = body();
  if (!status.ok()) watched.Failed(status.code());
  t_failure_told = !status.ok();
  return status;
}

// --- Checks of the outer layer (100000) ---------------------------------------------------------------------------------

inline Status RequirePointer(const char* name, const void* pointer) {
  if (pointer != nullptr) [[likely]]
    return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "%s is NULL", name);
}

// --- Resolving what a call names ----------------------------------------------------------------------------------------

// A stream by its handle; null stays null and means the default stream of the current context. 107017 for anything that
// is not a live stream.
[[gnu::always_inline]] inline Result<StreamRef> FindStream(aclrtStream handle) {
  if (handle == nullptr) return StreamRef();
  Stream* stream = Streams().Find(handle);
  if (stream != nullptr) [[likely]]
    return StreamRef{stream, StreamSlab::GenerationOf(handle)};
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "stream %p is not a live stream (destroyed, or not a stream at all)", handle);
}

// The same with a counted reference, for calls that wait on the stream or read it at length. `context` supplies the default
// stream.
Result<StreamHold> HoldStream(aclrtStream handle, Context* context);

inline StreamRef OrDefault(StreamRef stream, const Context& context) {
  return stream.stream != nullptr ? stream : context.default_stream();
}

// Whether the calling thread may do now what it would queue: nothing is in front of it, nobody watches, and the schedule is not for being
// late. Work that another thread submits meanwhile has no order with this call.
bool MayBeDoneNow(StreamRef stream, Context& context);

// Carries a task out before it returns, in no stream's order. What the engine says of a failure becomes the call's. Rules of
// ROPEWAY_FAULTS may have it fail or take longer, but for a part of a task (RunPart).
Status RunNow(const Task& task);
Status RunPart(const Task& task);

// Hands a described task to a stream; `stream` may be null for the default stream of `context`.
inline Status Submit(StreamRef stream, Context& context, Task& task) {
  const StreamRef target = OrDefault(stream, context);
  return target.stream->Enqueue(target.generation, &context.scope(), task);
}

inline Memory& TheMemory() { return Runtime::Get().memory(); }
inline Engine& TheEngine() { return Runtime::Get().engine(); }

// Where an address is, for calls that need no context: before the first device is set, all memory is pageable.
inline Status LocateAnytime(const char* name, const void* address, size_t size, Location* location) {
  Runtime* runtime = Runtime::GetIfStarted();
  return runtime == nullptr ? Ok() : runtime->memory().Locate(name, address, size, location);
}

// Waits for every stream of the current context: what aclrtSynchronizeDevice does, and the frees that synchronise first.
Status SynchronizeCurrentDevice(Deadline deadline);

// The physical id of a user's device id; 107001 with the argument's name otherwise.
Result<int> FindDevice(const char* name, int64_t user_id);

}  // namespace ropeway::api
