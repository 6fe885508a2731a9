// The shape of every API function: resolve, describe, hand on. Entry is the only place where a Status becomes an aclError,
// where exceptions end, and where the thread's error text is filed.
#pragma once

#include "acl/acl_rt.h"
#include "base/race_detector.h"
#include "base/status.h"
#include "runtime/runtime.h"
#include "runtime/thread_state.h"
#include "stream/stream.h"

namespace ropeway::api {

// What the exception that is being handled means to a caller of the API.
[[gnu::cold]] Status FromException();
// Files the text of a failure and returns its code.
[[gnu::cold]] aclError FileFailure(const char* call, Status status);

template <typename Body>
[[gnu::always_inline]] inline aclError Entry(const char* call, Body&& body) noexcept {
  const race_detector::OurCode ours;
  Status status;
  try {
    status = body();
  } catch (...) {
    status = FromException();
  }
  if (status.ok()) [[likely]]
    return ACL_SUCCESS;
  return FileFailure(call, status);
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
inline Result<StreamRef> FindStream(aclrtStream handle) {
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

// Carries a task out before it returns, in no stream's order. What the engine says of a failure becomes the call's.
Status RunNow(const Task& task);

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
