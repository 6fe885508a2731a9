// Models and their parts, as calls name them: 107017 for what is not alive.
#pragma once

#include "api/entry.h"
#include "stream/model.h"

namespace ropeway::api {

using ModelPartHold = SlabRef<ModelPartSlab, ModelPart>;

inline Result<ModelHold> FindModel(aclmdlRI modelRI) {
  ModelHold model(Models(), Models().Acquire(modelRI));
  if (model) return model;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "modelRI %p is not a live model (destroyed, or not a model at all)", modelRI);
}

inline Status RequireMode(aclmdlRICaptureMode mode) {
  if (static_cast<unsigned>(mode) <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "mode %d is not 0 (global), 1 (thread local) or 2 (relaxed)", static_cast<int>(mode));
}

// 107026 while the capture is open.
inline Status RequireCaptured(const Model& model) {
  if (!model.capturing()) return Ok();
  return Fail(ACL_ERROR_RT_MODEL_CAPTURED, "the model is still being captured; end the capture first");
}

// 207000 for the body of a condition, which is run, changed and destroyed with its root alone.
inline Status RequireNotBody(const Model& model) {
  if (!model.is_body()) return Ok();
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the model is a body of a condition; use the model that it is a part of");
}

inline Status RequireHandBuilt(const Model& model) {
  if (model.hand_built()) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "a captured model is replayed by aclmdlRIExecuteAsync; this call is for models built by hand");
}

inline Status RequireContextOf(const Model& model, Context& context) {
  if (model.scope() == &context.scope()) return Ok();
  return Fail(ACL_ERROR_RT_MODEL_CONTEXT, "the model belongs to another context than the calling thread's; make its context current first");
}

// The model that a stream is bound to: 107005 when there is none.
inline Result<ModelHold> HoldModelOf(const char* name, Stream& stream) {
  ModelHold model(Models(), stream.HoldBinding());
  if (model) return model;
  return Fail(ACL_ERROR_RT_STREAM_MODEL, "%s %d is not bound to a model; call aclmdlRIBindStream first", name, stream.id());
}

inline Result<ModelPartHold> FindPart(const char* name, void* handle, ModelPart::Kind kind) {
  ModelPartHold part(ModelParts(), ModelParts().Acquire(handle));
  if (part && part->kind == kind) return part;
  constexpr const char* kKinds[] = {"stream", "task", "task group"};
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "%s %p is not a %s of a live model", name, handle, kKinds[static_cast<int>(kind)]);
}

}  // namespace ropeway::api
