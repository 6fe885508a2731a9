#include "runtime/capture_mode.h"

namespace ropeway {

constinit thread_local aclmdlRICaptureMode t_capture_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

namespace {

// The captures of a context, as far as the decision needs them.
struct Running {
  bool any_global = false;
  bool own_global = false;  // begun by the calling thread
  bool own_thread_local = false;
};

Running CapturesOf(const FailureScope& scope) {
  Running running;
  Models().ForEachInUse([&](Model* model) {
    if (!model->capturing() || model->scope() != &scope) return;
    const bool global = model->mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    const bool local = model->mode() == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
    running.any_global |= global;
    running.own_global |= global && model->begun_by_this_thread();
    running.own_thread_local |= local && model->begun_by_this_thread();
  });
  return running;
}

bool Forbidden(const Running& running) {
  switch (t_capture_mode) {
    case ACL_MODEL_RI_CAPTURE_MODE_GLOBAL: return running.any_global || running.own_thread_local;
    case ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL: return running.own_global || running.own_thread_local;
    default: return false;
  }
}

}  // namespace

Status ExplainForbidden(Context& context, int code) {
  if (!Forbidden(CapturesOf(context.scope()))) return Ok();
  return Fail(code,
              "a capture in this context forbids calls that are carried out at once; use pinned memory and a stream, or "
              "aclmdlRICaptureThreadExchangeMode with ACL_MODEL_RI_CAPTURE_MODE_RELAXED");
}

}  // namespace ropeway
