// What captures forbid to calls that are carried out at once (rules/graphs.md 1): aclrtMemcpy, aclrtMemset,
// aclrtMemcpy2d and every asynchronous copy of pageable memory.
#pragma once

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/context.h"
#include "stream/model.h"

namespace ropeway {

// What the calling thread has exchanged; GLOBAL on every new thread.
extern constinit thread_local aclmdlRICaptureMode t_capture_mode;

[[gnu::cold]] Status ExplainForbidden(Context& context, int code);

// `code` (107030, or 107041 for an asynchronous copy) when a capture in the context forbids such a call to this thread.
inline Status RequireUnsafeAllowed(Context& context, int code) {
  if (Model::open_captures() == 0) [[likely]]
    return Ok();
  return ExplainForbidden(context, code);
}

// 107027 when the stream is being captured.
inline Status RequireNotCapturing(const Stream& stream) {
  if (!stream.capturing()) [[likely]]
    return Ok();
  return Fail(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured; end the capture first", stream.id());
}

// 107005 when the stream is bound to a model built by hand.
inline Status RequireNotBound(const Stream& stream) {
  if (!stream.bound()) [[likely]]
    return Ok();
  return Fail(ACL_ERROR_RT_STREAM_MODEL, "stream %d is bound to a model; call aclmdlRIUnbindStream first", stream.id());
}

}  // namespace ropeway
