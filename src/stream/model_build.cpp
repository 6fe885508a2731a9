// Models built by hand (rules/models.md 1, 2): which streams are bound, and what they store.
#include <algorithm>
#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "stream/label.h"
#include "stream/model.h"
#include "stream/model_run.h"

namespace ropeway {
namespace {

std::atomic<uint32_t> g_next_stored_task{1};  // of all streams: one that is bound elsewhere keeps its tasks

uint32_t MarksIn(const std::vector<Task>& tasks) {
  return static_cast<uint32_t>(std::count_if(tasks.begin(), tasks.end(), [](const Task& task) { return task.kind == TaskKind::kFinish; }));
}

Status NotBound(const Stream& stream) {
  return Fail(ACL_ERROR_RT_STREAM_MODEL, "stream %d is not bound to this model; call aclmdlRIBindStream first", stream.id());
}

}  // namespace

std::atomic<int> Model::hand_built_{0};

Result<Model*> Model::BeginBuild(FailureScope* scope) {
  Model* model = Models().Take();
  if (model == nullptr) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no room for another model");
  model->BeginLife(scope, Kind::kHandBuilt, State::kBuilding);
  {
    LockGuard lock(model->mutex_);
    model->graph_.bindings = 1;  // of the mark
    model->graph_.ends_at_mark = true;
  }
  hand_built_.fetch_add(1, std::memory_order_release);
  Models().Publish(model);
  return model;
}

Status Model::Bind(Stream& stream, bool head) {
  LockGuard lock(mutex_);
  if (state() != State::kBuilding)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the model is built already; streams are bound before aclmdlRIBuildEnd");
  std::vector<Task> kept;
  branch_states_.reserve(branch_states_.size() + 1);
  graph_.branches.reserve(graph_.branches.size() + 1);
  if (!stream.EnterModel(this, &kept))
    return Fail(ACL_ERROR_RT_STREAM_MODEL, "stream %d is bound to a model already, or being captured", stream.id());
  Streams().Retain(&stream);
  marks_ += MarksIn(kept);
  branch_states_.push_back({StreamHold(Streams(), &stream), head, false, nullptr});
  graph_.branches.push_back(std::move(kept));
  resolved_ = false;
  return Ok();
}

Status Model::Store(Stream& stream, Task& task) try {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  if (branch == branch_states_.size()) return NotBound(stream);
  if (branch_states_[branch].closed)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the model of stream %d is built; call aclrtPersistentTaskClean before giving it other work",
                stream.id());
  auto& tasks = graph_.branches[branch];
  if (tasks.size() >= Stream::kMostKept)
    return Fail(ACL_ERROR_RT_STREAM_TASK_FULL, "stream %d stores %zu tasks already, as many as it can", stream.id(), tasks.size());
  tasks.push_back(task);
  task.id = tasks.back().id = g_next_stored_task.fetch_add(1, std::memory_order_relaxed);
  if (task.kind == TaskKind::kFinish) ++marks_;
  resolved_ = false;
  return Ok();
} catch (const std::bad_alloc&) {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "host memory is exhausted: stream %d cannot store the task", stream.id());
}

Status Model::StoreEnd(Stream& stream, const char* call) {
  {
    LockGuard lock(mutex_);
    if (BranchOf(stream) == branch_states_.size())
      return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is not bound to this model; call aclmdlRIBindStream first", stream.id());
    if (marks_ != 0) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the model has an end already; it has exactly one");
  }
  Task task{};
  task.kind = TaskKind::kFinish;
  task.call = call;
  return Store(stream, task);
}

Status Model::EndBuild() {
  LockGuard lock(mutex_);
  if (state() == State::kReady) return Ok();
  if (branch_states_.empty()) return Fail(ACL_ERROR_RT_STREAM_MODEL, "no stream is bound to the model; call aclmdlRIBindStream first");
  if (marks_ == 0) return Fail(ACL_ERROR_RT_MODEL_EXECUTE, "the model has no end; call aclmdlRIEndTask first");
  for (BranchState& branch : branch_states_) branch.closed = true;
  state_.store(State::kReady, std::memory_order_release);
  return Ok();
}

// --- Changes ------------------------------------------------------------------------------------------------------------

template <typename Body>
Status Model::BetweenRuns(Body&& body) {
  for (;;) {
    StreamHold busy;
    uint64_t sequence = 0;
    {
      LockGuard lock(mutex_);
      if (!Pending()) return body();
      for (Execution& execution : executions_) {
        if (execution.complete()) continue;
        Streams().Retain(execution.stream.get());
        busy = StreamHold(Streams(), execution.stream.get());
        sequence = execution.sequence;
      }
    }
    if (!busy) continue;  // somebody is about to queue one
    if (busy->queue().InsideOwnCall())
      return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "called from a host function of the model itself, which would wait for its own end");
    static_cast<void>(busy->WaitTold(sequence, Deadline::Never()));
  }
}

void Model::ForgetParts() {
  for (auto& [place, part] : std::exchange(parts_, {})) {
    if (ModelParts().Retire(part, part->generation())) ModelParts().Release(part);
  }
}

Status Model::Unbind(Stream& stream) {
  std::vector<Task> left;
  Status status = BetweenRuns([&]() RW_REQUIRES(mutex_) -> Status {
    const size_t branch = BranchOf(stream);
    if (branch == branch_states_.size()) return NotBound(stream);
    ForgetParts();
    marks_ -= MarksIn(graph_.branches[branch]);
    stream.LeaveModel(this, &graph_.branches[branch]);
    left.swap(graph_.branches[branch]);
    graph_.branches.erase(graph_.branches.begin() + static_cast<ptrdiff_t>(branch));
    branch_states_.erase(branch_states_.begin() + static_cast<ptrdiff_t>(branch));
    resolved_ = false;
    return Ok();
  });
  for (const Task& task : left) DropTask(task);
  return status;
}

Status Model::Clean(Stream& stream) {
  std::vector<Task> dropped;
  Status status = BetweenRuns([&]() RW_REQUIRES(mutex_) -> Status {
    const size_t branch = BranchOf(stream);
    if (branch == branch_states_.size()) return NotBound(stream);
    ForgetParts();
    marks_ -= MarksIn(graph_.branches[branch]);
    dropped.swap(graph_.branches[branch]);
    branch_states_[branch].closed = false;
    resolved_ = false;
    return Ok();
  });
  for (const Task& task : dropped) DropTask(task);
  return status;
}

void Model::Dismantle(std::vector<Execution> executions) {
  std::vector<StreamHold> spare;
  {
    LockGuard lock(mutex_);
    spare.swap(spare_);
    for (size_t i = 0; i < branch_states_.size(); ++i) branch_states_[i].stream->LeaveModel(this, &graph_.branches[i]);
    branch_states_.clear();
  }
  for (Execution& execution : executions) execution.stream->EndHidden();
  for (StreamHold& stream : spare) stream->EndHidden();
  hand_built_.fetch_sub(1, std::memory_order_release);
}

// --- What tasks name ----------------------------------------------------------------------------------------------------

uint32_t Model::BranchOfStream(uint32_t stream_id) const {
  for (size_t i = 0; i < branch_states_.size(); ++i) {
    if (static_cast<uint32_t>(branch_states_[i].stream->id()) == stream_id) return static_cast<uint32_t>(i);
  }
  return GraphPlace::kNowhere;
}

// Streams and labels become numbers of the graph. From now on no stream takes tasks until it is cleaned: the graph is about to run.
void Model::Resolve() {
  for (BranchState& branch : branch_states_) branch.closed = true;
  if (resolved_) return;
  graph_.apart.Forget();
  graph_.dormant.assign(branch_states_.size(), false);
  for (size_t i = 0; i < branch_states_.size(); ++i) graph_.dormant[i] = !branch_states_[i].head;
  graph_.jump_tables.clear();
  const auto place_of = [&](const LabelPlace& label) RW_REQUIRES(mutex_) {
    GraphPlace place{BranchOfStream(label.stream), 0};
    if (place.branch == GraphPlace::kNowhere) return place;
    const auto& tasks = graph_.branches[place.branch];
    const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const Task& task) { return task.id == label.task; });
    if (found == tasks.end()) return GraphPlace();
    place.index = static_cast<uint32_t>(found - tasks.begin());
    return place;
  };
  for (auto& tasks : graph_.branches) {
    for (Task& task : tasks) {
      if (task.kind == TaskKind::kActivate) task.activate.branch = BranchOfStream(task.activate.stream);
      if (task.kind == TaskKind::kSwitch) task.switch_to.branch = BranchOfStream(task.switch_to.stream);
      if (task.kind != TaskKind::kJump) continue;
      task.jump.table = static_cast<uint32_t>(graph_.jump_tables.size());
      auto& table = graph_.jump_tables.emplace_back();
      const LabelListHold list(LabelLists(), LabelLists().Acquire(task.jump.list));
      if (!list) continue;
      for (const LabelPlace& label : list->places()) table.push_back(place_of(label));
    }
  }
  resolved_ = true;
}

// --- Looking at it ------------------------------------------------------------------------------------------------------

std::vector<void*> Model::BoundStreams() {
  LockGuard lock(mutex_);
  std::vector<void*> handles;
  for (const BranchState& branch : branch_states_) handles.push_back(branch.stream->handle());
  return handles;
}

size_t Model::BranchNumberOf(const Stream& stream) {
  LockGuard lock(mutex_);
  return BranchOf(stream);
}

}  // namespace ropeway
