// Conditions in captured graphs (rules/graphs.md 8).
#include "api/checks.h"
#include "api/model_handles.h"
#include "runtime/capture_mode.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Result<ConditionHold> FindCondition(aclmdlRICondHandle handle) {
  ConditionHold found(Conditions(), Conditions().Acquire(handle));
  if (found) return found;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "handle %p is not a condition of a live model", handle);
}

// Zeroed, and freed with whoever has it last.
Result<std::shared_ptr<void>> MakeVariable(int device) {
  HeapRequest request;
  request.reserved = 512;
  request.page_size = 4096;
  request.call = "aclmdlRICondHandleCreate";
  const std::optional<void*> block = TheMemory().AllocateDevice(device, request);
  if (!block) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "device %d has no memory left for a condition", Runtime::UserIdOf(device));
  std::shared_ptr<void> variable(*block, [](void* address) { TheMemory().FreeDevice(address); });
  Task zero{};
  zero.kind = TaskKind::kStore;
  zero.call = request.call;
  zero.store = {variable.get(), 0};
  RW_TRY(RunPart(zero));
  return variable;
}

Status RequireBodyCount(aclmdlRICondTaskType type, uint32_t size) {
  const uint32_t most = type == ACL_MODEL_RI_COND_TYPE_IF ? 2 : type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1 : UINT32_MAX;
  return RequireRange(Layer::kRuntime, "params.size", size, 1, most);
}

}  // namespace
}  // namespace ropeway::api

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"modelRI", modelRI}, {"handle", handle}}));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireRange(Layer::kRuntime, "flag", static_cast<int64_t>(static_cast<unsigned>(flag)), 0,
                        ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT));
    if (model->hand_built())
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "conditions are for captured models; a model built by hand has labels and streams to switch to");
    if (!model->capturing())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "the model is not being captured; create the handle before the capture ends");
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*model, *context));
    RW_TRY_SET(std::shared_ptr<void> variable, MakeVariable(context->device()));
    const bool assigns = static_cast<unsigned>(flag) == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
    RW_TRY_SET(*handle, model->AddCondition(std::move(variable), assigns ? std::optional<uint64_t>(defaultLaunchValue) : std::nullopt));
    return Ok();
  });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"ptr", ptr}}));
    RW_TRY_SET(ConditionHold condition, FindCondition(handle));
    RW_TRY(CurrentContext().status());
    *ptr = static_cast<uint64_t*>(condition->variable);
    return Ok();
  });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    ConditionHold condition;
    if (params.handle != nullptr) {
      RW_TRY_SET(condition, FindCondition(params.handle));
    }
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY(RequireRange(Layer::kRuntime, "params.type", static_cast<int64_t>(static_cast<unsigned>(params.type)), ACL_MODEL_RI_COND_TYPE_IF,
                        ACL_MODEL_RI_COND_TYPE_SWITCH));
    RW_TRY(RequireZero(Layer::kRuntime, "flags", flags));
    RW_TRY(RequireRuntimePointer("params.handle", params.handle));
    RW_TRY(RequireRuntimePointer("params.modelRIArray", params.modelRIArray));
    if (condition->used.load())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "params.handle belongs to another task already; create a handle for each");
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    const ModelHold model(Models(), target->HoldCapture());
    if (!model) return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured", target->id());
    if (condition->model != model.get())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "params.handle was created for another model than the one that stream %d is captured into",
                  target->id());
    RW_TRY(RequireBodyCount(params.type, params.size));
    return model->CaptureCondition(*target, *condition, static_cast<BodyChoice>(params.type), {params.modelRIArray, params.size},
                                   "aclmdlRIAddCondTask");
  });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"stream", stream}, {"modelRI", modelRI}}));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY_SET(StreamHold target, HoldStream(stream, nullptr));
    RW_TRY(RequireMode(mode));
    RW_TRY(Model::RequireSuitable(*target));
    if (!model->is_body())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "modelRI %p is no body of a condition; aclmdlRIAddCondTask hands them out", modelRI);
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target->RequireContext(&context->scope()));
    RW_TRY(RequireNotBound(*target));
    if (target->is_default()) return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the default stream cannot be captured; create a stream");
    if (model->state() != Model::State::kAwaitsCapture)
      return Fail(ACL_ERROR_RT_MODEL_CAPTURED, "the body was captured before, or is being captured; that happens once");
    RW_TRY(RequireNotCapturing(*target));
    return model->BeginBody(*target, mode);
  });
}
