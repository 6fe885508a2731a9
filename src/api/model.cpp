// Models: capture (rules/graphs.md), replay and end (for those built by hand rules/models.md 3).
#include "stream/model.h"

#include "api/checks.h"
#include "api/model_handles.h"
#include "runtime/capture_mode.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// Streams whose work is driven elsewhere cannot carry a replay.
Status RequireExecuting(const Stream& stream) {
  if ((stream.flags() & Stream::kNeverWaitedFor) == 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream %d was created with flags 0x%x and cannot execute a model", stream.id(), stream.flags());
}

// The model that `stream` is being captured into; 107029 when there is none.
Result<ModelHold> HoldCapture(Stream& stream) {
  ModelHold model(Models(), stream.HoldCapture());
  if (model) return model;
  return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured; call aclmdlRICaptureBegin first", stream.id());
}

}  // namespace
}  // namespace ropeway::api

// --- Capture ------------------------------------------------------------------------------------------------------------

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY(RequireMode(mode));
    RW_TRY(Model::RequireSuitable(*target));
    if (target->is_default()) return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the default stream cannot be captured; create a stream");
    RW_TRY(RequireNotBound(*target));
    RW_TRY(RequireNotCapturing(*target));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    return Model::BeginCapture(*target, mode);
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    if (status == nullptr && modelRI == nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "status and modelRI are both NULL");
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    ModelHold model(Models(), target->HoldCapture());
    const bool invalid = model && model->state() == Model::State::kInvalid;
    if (status != nullptr)
      *status = !model    ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
                : invalid ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                          : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    if (modelRI != nullptr) *modelRI = model ? Models().HandleOf(model.get()) : nullptr;
    return Ok();
  });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY_SET(ModelHold model, HoldCapture(*target));
    if (modelRI == nullptr && !model->is_body()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "modelRI is NULL");
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    if (modelRI != nullptr) *modelRI = nullptr;
    void* handle = Models().HandleOf(model.get());
    RW_TRY(model->EndCapture(*target));
    if (modelRI != nullptr) *modelRI = handle;
    return Ok();
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("mode", mode));
    RW_TRY(RequireMode(*mode));
    RW_TRY(CurrentContext().status());
    std::swap(*mode, t_capture_mode);
    return Ok();
  });
}

// --- Task groups --------------------------------------------------------------------------------------------------------

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY_SET(ModelHold model, HoldCapture(*target));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    return model->BeginGroup(*target);
  });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY_SET(ModelHold model, HoldCapture(*target));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    return model->EndGroup(*target, handle);
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY_SET(ModelPartHold group, FindPart("handle", handle, ModelPart::Kind::kGroup));
    RW_TRY(RequireNotCapturing(*target));
    RW_TRY(RequireNotBound(*target));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    auto update = std::make_unique<GroupUpdate>(handle, group->kernels);
    void* nobody = nullptr;
    if (!group->updater.compare_exchange_strong(nobody, stream))
      return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "the task group is being updated by stream %p already", nobody);
    if (target->BeginUpdate(std::move(update))) return Ok();
    group->updater.store(nullptr);
    return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %p is updating another task group already", stream);
  });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    const std::unique_ptr<GroupUpdate> update = target->EndUpdate();
    if (update == nullptr)
      return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %p is not updating a task group; call aclmdlRICaptureTaskUpdateBegin first",
                  stream);
    RW_TRY_SET(ModelPartHold group, FindPart("the updated group", update->handle, ModelPart::Kind::kGroup));
    group->updater.store(nullptr);
    RW_TRY_SET(StreamRef on, FindStream(stream));
    return group->model->UpdateGroup(*update, on, &context->scope(), "aclmdlRICaptureTaskUpdateEnd");
  });
}

// --- Replay and end -----------------------------------------------------------------------------------------------------

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    if (found.stream != nullptr) {
      RW_TRY_SET(StreamHold held, HoldStream(stream, nullptr));  // what it was created with changes when it is used again
      RW_TRY(RequireNotCapturing(*held));
      RW_TRY(RequireExecuting(*held));
    }
    RW_TRY(RequireNotBody(*model));
    RW_TRY(RequireCaptured(*model));
    RW_TRY_SET(Context * context, CurrentContext());
    const StreamRef target = OrDefault(found, *context);
    RW_TRY(RequireContextOf(*model, *context));
    RW_TRY(target.stream->RequireContext(&context->scope()));
    return model->Execute(target, &context->scope(), "aclmdlRIExecuteAsync");
  });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    if (timeout == 0 || timeout < -1)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "timeout %d is neither -1 (for ever) nor a number of milliseconds", timeout);
    RW_TRY(RequireNotBody(*model));
    RW_TRY(RequireHandBuilt(*model));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    return model->ExecuteAndWait(Deadline::AfterMs(timeout));
  });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireNotBody(*model));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    if (!model->hand_built())
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a captured model cannot be aborted by itself; abort the stream that replays it");
    return model->Abort();
  });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireNotBody(*model));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    RW_TRY(RequireCaptured(*model));
    return model->Destroy();
  });
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("modelRI", modelRI));
    RW_TRY(RequireRuntimePointer("func", reinterpret_cast<const void*>(func)));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireNotBody(*model));
    if (model->AddDestroyCallback({func, userData})) return Ok();
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "func is registered with this model already");
  });
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("modelRI", modelRI));
    RW_TRY(RequireRuntimePointer("func", reinterpret_cast<const void*>(func)));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireNotBody(*model));
    if (model->RemoveDestroyCallback(func)) return Ok();
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "func is not registered with this model");
  });
}
