// Models built by hand (rules/models.md 1, 2): streams are bound to one, store tasks, and get an end.
#include "api/checks.h"
#include "api/model_handles.h"
#include "runtime/capture_mode.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint32_t kHead = 0, kNotHead = 0x7FFFFFFF;

Status RequirePersistent(aclrtStream handle, const Stream* stream) {
  if (stream != nullptr && (stream->flags() & ACL_STREAM_PERSISTENT) != 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream %p was not created with ACL_STREAM_PERSISTENT", handle);
}

// What a stream must not be, beside captured.
Status RequireBindable(const Stream& stream) {
  if (stream.stop_mode.load())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "stream %d stops on failures, which streams of a model do not", stream.id());
  if ((stream.flags() & ACL_STREAM_FAST_LAUNCH) != 0)
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "stream %d was created with ACL_STREAM_FAST_LAUNCH and cannot be bound", stream.id());
  return Ok();
}

// For a stream that may be null, which is the default stream and never bound.
Result<StreamHold> HoldIfGiven(aclrtStream stream) {
  if (stream == nullptr) return StreamHold();
  return HoldStream(stream, nullptr);
}

Status RequireToBeCleaned(const Stream& stream, const ModelHold& model) {
  constexpr auto kNot = ACL_ERROR_RT_INTERNAL_ERROR;
  if ((stream.flags() & ACL_STREAM_PERSISTENT) == 0) return Fail(kNot, "stream %d was not created with ACL_STREAM_PERSISTENT", stream.id());
  if (!model) return Fail(kNot, "stream %d is not bound to a model", stream.id());
  if ((stream.flags() & ACL_STREAM_CPU_SCHEDULE) != 0) return Fail(kNot, "stream %d was created with ACL_STREAM_CPU_SCHEDULE", stream.id());
  if (model->state() == Model::State::kBuilding)
    return Fail(kNot, "the model of stream %d is still being built; call aclmdlRIBuildEnd first", stream.id());
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireZero(Layer::kRuntime, "flag", flag));
    RW_TRY_SET(Context * context, CurrentContext());
    *modelRI = nullptr;
    RW_TRY_SET(Model * model, Model::BeginBuild(&context->scope()));
    *modelRI = Models().HandleOf(model);
    return Ok();
  });
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    if (flag != kHead && flag != kNotHead)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x is neither 0 (starts with the model) nor 0x7FFFFFFF (is started by a task)", flag);
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY_SET(StreamHold target, HoldIfGiven(stream));
    RW_TRY(RequirePersistent(stream, target.get()));
    RW_TRY(RequireNotBound(*target));
    RW_TRY(RequireHandBuilt(*model));
    RW_TRY(RequireNotCapturing(*target));
    RW_TRY(RequireBindable(*target));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    RW_TRY(target->RequireContext(&context->scope()));
    return model->Bind(*target, flag == kHead);
  });
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY_SET(StreamHold given, HoldIfGiven(stream));
    RW_TRY(RequireHandBuilt(*model));
    if (given) RW_TRY(RequireNotCapturing(*given));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    RW_TRY(target->RequireContext(&context->scope()));
    RW_TRY(RequireContextOf(*model, *context));
    return model->StoreEnd(*target, "aclmdlRIEndTask");
  });
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireNull("reserve", reserve));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireHandBuilt(*model));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    return model->EndBuild();
  });
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY_SET(StreamHold given, HoldIfGiven(stream));
    RW_TRY(RequireHandBuilt(*model));
    if (given) RW_TRY(RequireNotCapturing(*given));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    return model->Unbind(*target);
  });
}

aclError aclrtPersistentTaskClean(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("stream", stream));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    const ModelHold model(Models(), target->HoldBinding());
    RW_TRY(RequireToBeCleaned(*target, model));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    return model->Clean(*target);
  });
}
