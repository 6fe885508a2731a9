// The inside of a captured graph: its streams and tasks, and changes to them (rules/graphs.md 6). Value writes and waits can be
// changed or switched off; copies only show that they are there.
#include <algorithm>

#include "api/checks.h"
#include "api/model_handles.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

aclmdlRITaskType TypeOf(const Task& task) {
  const bool of_event = (task.flags & Task::kOfEvent) != 0;
  switch (task.kind) {
    case TaskKind::kKernel: return ACL_MODEL_RI_TASK_KERNEL;
    case TaskKind::kStore: return ACL_MODEL_RI_TASK_VALUE_WRITE;
    case TaskKind::kAwaitValue: return ACL_MODEL_RI_TASK_VALUE_WAIT;
    case TaskKind::kMark:
      if ((task.flags & Task::kTakesBack) != 0) return ACL_MODEL_RI_TASK_EVENT_RESET;
      [[fallthrough]];
    case TaskKind::kSignal:
    case TaskKind::kMarkBound: return of_event ? ACL_MODEL_RI_TASK_EVENT_RECORD : ACL_MODEL_RI_TASK_DEFAULT;
    case TaskKind::kAwait:
    case TaskKind::kAwaitSignal:
    case TaskKind::kAwaitBound: return of_event ? ACL_MODEL_RI_TASK_EVENT_WAIT : ACL_MODEL_RI_TASK_DEFAULT;
    default: return ACL_MODEL_RI_TASK_DEFAULT;
  }
}

// Hands out as many handles as the array takes, with nulls behind the last, or only their number when there is no array.
template <typename HandleOf>
Status ListHandles(const char* count_name, void** array, uint32_t* count, size_t available, HandleOf handle_of) {
  const size_t room = array != nullptr ? *count : available;
  *count = static_cast<uint32_t>(std::min(room, available));
  if (array == nullptr) return Ok();
  for (size_t i = 0; i < room; ++i) {
    array[i] = i < available ? handle_of(i) : nullptr;
    if (i < available && array[i] == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the process has no handle left");
  }
  if (room >= available) return Ok();
  return Fail(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, "%s %zu is too small for %zu handles; the first ones were stored", count_name, room,
              available);
}

// Work that was captured can be changed; what was stored by hand is cleaned and stored anew.
Status RequireCapturedTask(const ModelPartHold& part) {
  if (!part->model->hand_built()) return Ok();
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a task of a model built by hand cannot be changed; use aclrtPersistentTaskClean");
}

Status ListTasks(Model& model, size_t branch, aclmdlRITask* tasks, uint32_t* numTasks) {
  return ListHandles("numTasks", tasks, numTasks, model.task_count(branch),
                     [&](size_t i) { return model.HandleOfPart(ModelPart::Kind::kTask, branch, i); });
}

Status RequireCount(const char* name, const uint32_t* count) {
  if (count != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL", name);
}

// Only what stands for itself can be changed.
Status RequireChangeable(const Task& task) {
  if (task.kind == TaskKind::kStore || task.kind == TaskKind::kAwaitValue) return Ok();
  return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a %s cannot be read or changed; capture the graph anew", TaskKindName(task.kind));
}

Status RequireDeviceWord(const void* devAddr) {
  const auto verdict = TheMemory().Judge(devAddr, sizeof(uint64_t), FreeClock::kNever);
  if (verdict.usable && verdict.device >= 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "devAddr %p is not device memory", devAddr);
}

Status ReadParams(const aclmdlRITaskParams& params, Task* task) {
  if (params.type != TypeOf(*task))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "params.type %d does not fit the task, whose type is %d", static_cast<int>(params.type),
                static_cast<int>(TypeOf(*task)));
  if (task->kind == TaskKind::kStore) {
    task->store = {params.valueWriteTaskParams.devAddr, params.valueWriteTaskParams.value};
    return RequireDeviceWord(task->store.address);
  }
  const auto& wait = params.valueWaitTaskParams;
  if (wait.flag > ACL_STREAM_WAIT_VALUE_NOR) return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag %u is not 0 to 3", wait.flag);
  task->await_value = {wait.devAddr, wait.value, static_cast<ValueTest>(wait.flag)};
  return RequireDeviceWord(wait.devAddr);
}

}  // namespace
}  // namespace ropeway::api

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream* streams, uint32_t* numStreams) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireCount("numStreams", numStreams));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireNotBody(*model));
    RW_TRY(RequireCaptured(*model));
    if (model->hand_built()) {
      const std::vector<void*> bound = model->BoundStreams();
      return ListHandles("numStreams", streams, numStreams, bound.size(), [&](size_t i) { return bound[i]; });
    }
    return ListHandles("numStreams", streams, numStreams, model->branch_count(),
                       [&](size_t i) { return model->HandleOfPart(ModelPart::Kind::kStream, i, 0); });
  });
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks, uint32_t* numTasks) {
  return Entry(__func__, [&]() -> Status {
    if (stream == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL");
    RW_TRY(RequireCount("numTasks", numTasks));
    if (StreamHold bound(Streams(), Streams().Acquire(stream)); bound && bound->bound()) {
      const ModelHold model(Models(), bound->HoldBinding());
      if (model) return ListTasks(*model, model->BranchNumberOf(*bound), tasks, numTasks);
    }
    if (Streams().Find(stream) != nullptr)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "stream %p does not belong to a model; use those that aclmdlRIGetStreams lists", stream);
    RW_TRY_SET(ModelPartHold part, FindPart("stream", stream, ModelPart::Kind::kStream));
    return ListTasks(*part->model, part->branch, tasks, numTasks);
  });
}

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("task", task));
    RW_TRY(RequirePointer("type", type));
    RW_TRY_SET(ModelPartHold part, FindPart("task", task, ModelPart::Kind::kTask));
    *type = TypeOf(part->model->TaskAt(part->branch, part->index));
    return Ok();
  });
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("task", task));
    RW_TRY(RequirePointer("id", id));
    RW_TRY_SET(ModelPartHold part, FindPart("task", task, ModelPart::Kind::kTask));
    *id = part->model->TaskAt(part->branch, part->index).id;
    return Ok();
  });
}

aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("task", task));
    RW_TRY(RequirePointer("params", params));
    RW_TRY_SET(ModelPartHold part, FindPart("task", task, ModelPart::Kind::kTask));
    const Task found = part->model->TaskAt(part->branch, part->index);
    RW_TRY(RequireChangeable(found));
    aclmdlRITaskParams answer{};
    answer.type = TypeOf(found);
    if (found.kind == TaskKind::kStore) {
      answer.valueWriteTaskParams = {found.store.address, found.store.value};
    } else {
      const auto& wait = found.await_value;
      answer.valueWaitTaskParams = {const_cast<void*>(wait.address), wait.value, static_cast<uint32_t>(wait.test)};
    }
    *params = answer;
    return Ok();
  });
}

aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("task", task));
    RW_TRY(RequirePointer("params", params));
    RW_TRY_SET(ModelPartHold part, FindPart("task", task, ModelPart::Kind::kTask));
    RW_TRY(RequireCapturedTask(part));
    Task changed = part->model->TaskAt(part->branch, part->index);
    RW_TRY(RequireChangeable(changed));
    RW_TRY(ReadParams(*params, &changed));
    return part->model->Change(part->branch, part->index, changed);
  });
}

aclError aclmdlRITaskDisable(aclmdlRITask task) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("task", task));
    RW_TRY_SET(ModelPartHold part, FindPart("task", task, ModelPart::Kind::kTask));
    RW_TRY(RequireCapturedTask(part));
    Task changed = part->model->TaskAt(part->branch, part->index);
    RW_TRY(RequireChangeable(changed));
    changed.kind = TaskKind::kNothing;
    return part->model->Change(part->branch, part->index, changed);
  });
}

aclError aclmdlRIUpdate(aclmdlRI modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireNotBody(*model));
    if (model->hand_built())
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a model built by hand is not updated; use aclrtPersistentTaskClean");
    return model->ApplyChanges();
  });
}
