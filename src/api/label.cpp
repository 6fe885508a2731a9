// Labels of models built by hand, and the tasks that decide what such a model runs next (rules/models.md 4, 5).
#include "stream/label.h"

#include "api/checks.h"
#include "api/model_handles.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kMaxListed = 65535;

Status NotAlive(const char* what, const void* handle) {
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "%s %p is not alive (destroyed, or something else)", what, handle);
}

Result<LabelHold> FindLabel(aclrtLabel label) {
  LabelHold found(Labels(), Labels().Acquire(label));
  if (found) return found;
  return NotAlive("label", label);
}

Status RequireContextOf(const Label& label, Context& context) {
  if (label.OfContext(&context.scope())) return Ok();
  return Fail(ACL_ERROR_RT_LABEL_CONTEXT, "the label belongs to another context than the calling thread's; make its context current first");
}

// One caller wins when several destroy the same handle.
template <typename SlabType, typename Object>
Status DestroyHandle(const char* what, void* handle, SlabType& slab, Object* object) {
  if (!slab.Retire(object, SlabType::GenerationOf(handle))) return NotAlive(what, handle);
  slab.Release(object);  // the handle's
  return Ok();
}

// What a task that decides is stored by: the stream, and the model that it is bound to.
struct Binding {
  StreamHold stream;
  ModelHold model;
};

// Behind the checks of handles: context, stream of it, bound.
Result<Binding> HoldBinding(aclrtStream stream, Context* context) {
  RW_TRY_SET(StreamHold target, HoldStream(stream, context));
  RW_TRY(target->RequireContext(&context->scope()));
  RW_TRY_SET(ModelHold model, HoldModelOf("stream", *target));
  return Binding{std::move(target), std::move(model)};
}

Status RequireSameModel(const char* name, const ModelHold& model, const ModelHold& other) {
  if (model.get() == other.get()) return Ok();
  return Fail(ACL_ERROR_RT_STREAM_MODEL, "%s is bound to another model than stream; a task starts streams of its own model", name);
}

Status StoreTask(const StreamHold& stream, Context& context, Task& task) {
  return stream->Enqueue(stream->generation(), &context.scope(), task);
}

Task ControlTask(TaskKind kind, const char* call) {
  Task task{};
  task.kind = kind;
  task.call = call;
  return task;
}

}  // namespace
}  // namespace ropeway::api

// --- Labels -------------------------------------------------------------------------------------------------------------

aclError aclrtCreateLabel(aclrtLabel* label) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("label", label));
    RW_TRY_SET(Context * context, CurrentContext());
    void* const made = Label::Make(&context->scope());
    if (made == nullptr) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the process has no label left (65535 at most); destroy some");
    *label = made;
    return Ok();
  });
}

aclError aclrtDestroyLabel(aclrtLabel label) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("label", label));
    RW_TRY_SET(LabelHold found, FindLabel(label));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*found, *context));
    return DestroyHandle("label", label, Labels(), found.get());
  });
}

aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num, aclrtLabelList* labelList) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("labels", labels));
    RW_TRY(RequirePointer("labelList", labelList));
    if (num == 0 || num > kMaxListed) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num %zu is not in 1..%zu", num, kMaxListed);
    std::vector<LabelHold> holds;
    std::vector<Label*> found;
    for (size_t i = 0; i < num; ++i) {
      holds.emplace_back(Labels(), Labels().Acquire(labels[i]));
      found.push_back(holds.back().get());
      if (found.back() == nullptr) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "labels[%zu] %p is not a live label", i, labels[i]);
    }
    RW_TRY(CurrentContext().status());
    RW_TRY_SET(*labelList, LabelList::Make(found));
    return Ok();
  });
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("labelList", labelList));
    const LabelListHold found(LabelLists(), LabelLists().Acquire(labelList));
    if (!found) return NotAlive("labelList", labelList);
    return DestroyHandle("labelList", labelList, LabelLists(), found.get());
  });
}

// --- Tasks --------------------------------------------------------------------------------------------------------------

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"label", label}, {"stream", stream}}));
    RW_TRY_SET(LabelHold found, FindLabel(label));
    RW_TRY(RequireLiveStream(stream));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(RequireContextOf(*found, *context));
    RW_TRY_SET(Binding place, HoldBinding(stream, context));
    RW_TRY(found->RequireSettable());
    Task task = ControlTask(TaskKind::kNothing, "aclrtSetLabel");
    RW_TRY(StoreTask(place.stream, *context, task));
    return found->Set({static_cast<uint32_t>(place.stream->id()), task.id});
  });
}

aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"labelList", labelList}, {"stream", stream}}));
    RW_TRY(RequireLiveStream(stream));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(Binding place, HoldBinding(stream, context));
    Task task = ControlTask(TaskKind::kJump, "aclrtSwitchLabelByIndex");
    task.jump = {ptr, labelList, maxValue, 0};
    return StoreTask(place.stream, *context, task);
  });
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"activeStream", activeStream}, {"stream", stream}}));
    RW_TRY_SET(StreamHold target, HoldStream(activeStream, nullptr));
    RW_TRY_SET(StreamHold issuer, HoldStream(stream, nullptr));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(ModelHold model, HoldModelOf("stream", *issuer));
    RW_TRY_SET(ModelHold of_target, HoldModelOf("activeStream", *target));
    RW_TRY(issuer->RequireContext(&context->scope()));
    RW_TRY(RequireSameModel("activeStream", model, of_target));
    Task task = ControlTask(TaskKind::kActivate, "aclrtActiveStream");
    task.activate = {static_cast<uint32_t>(target->id()), 0};
    return StoreTask(issuer, *context, task);
  });
}

aclError aclrtSwitchStream(void* leftValue, aclrtCondition cond, void* rightValue, aclrtCompareDataType dataType, aclrtStream trueStream,
                           aclrtStream falseStream, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"leftValue", leftValue}, {"rightValue", rightValue}, {"trueStream", trueStream}, {"stream", stream}}));
    RW_TRY(RequireNull("falseStream", falseStream));
    RW_TRY_SET(StreamHold target, HoldStream(trueStream, nullptr));
    RW_TRY_SET(StreamHold issuer, HoldStream(stream, nullptr));
    RW_TRY(RequireRange(Layer::kRuntime, "cond", static_cast<int64_t>(cond), ACL_RT_EQUAL, ACL_RT_LESS_OR_EQUAL));
    RW_TRY(RequireRange(Layer::kRuntime, "dataType", static_cast<int64_t>(dataType), ACL_RT_SWITCH_INT32, ACL_RT_SWITCH_INT64));
    RW_TRY_SET(ModelHold of_target, HoldModelOf("trueStream", *target));
    RW_TRY_SET(ModelHold model, HoldModelOf("stream", *issuer));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(issuer->RequireContext(&context->scope()));
    RW_TRY(RequireSameModel("trueStream", model, of_target));
    Task task = ControlTask(TaskKind::kSwitch, "aclrtSwitchStream");
    task.switch_to = {
        leftValue, rightValue, static_cast<uint32_t>(target->id()), 0, static_cast<Comparison>(cond), dataType == ACL_RT_SWITCH_INT64};
    return StoreTask(issuer, *context, task);
  });
}
