// Conditions in captured graphs (rules/graphs.md 8). A body is a model of its own while it is captured; when the capture of the root ends,
// its branches become branches of the root, which a task there starts.
#include <algorithm>

#include "acl/error_codes/rt_error_codes.h"
#include "base/no_destroy.h"
#include "stream/model.h"

namespace ropeway {
namespace {

void DropAll(const std::vector<std::vector<Task>>& branches) {
  for (const auto& branch : branches) {
    for (const Task& task : branch) DropTask(task);
  }
}

Task ConditionTask(const GraphCondition& condition, BodyChoice choice, uint32_t first, size_t count, const char* call) {
  Task task{};
  task.kind = TaskKind::kBody;
  task.call = call;
  task.body = {condition.variable, first, static_cast<uint32_t>(count), choice};
  return task;
}

}  // namespace

ConditionSlab& Conditions() {
  static constinit NoDestroy<ConditionSlab> slab;
  return slab.get();
}

Result<void*> Model::AddCondition(std::shared_ptr<void> variable, std::optional<uint64_t> initial) {
  Model& owner = root();
  LockGuard lock(owner.mutex_);
  if (!owner.capturing()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "the capture was ended by another thread meanwhile");
  owner.conditions_.reserve(owner.conditions_.size() + 1);
  owner.variables_.reserve(owner.variables_.size() + 1);
  owner.graph_.prologue.reserve(owner.graph_.prologue.size() + 1);
  GraphCondition* condition = Conditions().Take();
  if (condition == nullptr) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no handle left for a condition");
  if (initial) {
    Task store{};
    store.kind = TaskKind::kStore;
    store.call = "aclmdlRICondHandleCreate";
    store.store = {variable.get(), *initial};
    owner.graph_.prologue.push_back(store);
  }
  condition->model = this;
  condition->variable = variable.get();
  owner.conditions_.push_back(condition);
  owner.variables_.push_back(std::move(variable));
  return Conditions().Publish(condition);
}

// One model for each handle, which the root keeps.
Status Model::MakeBodies(std::span<void*> handles, uint32_t* first) {
  LockGuard lock(mutex_);
  bodies_.reserve(bodies_.size() + handles.size());
  drafts_.reserve(drafts_.size() + handles.size());
  *first = static_cast<uint32_t>(drafts_.size());
  for (void*& handle : handles) {
    Model* body = Models().Take();
    if (body == nullptr) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no room for another model");
    body->BeginLife(scope_, Kind::kBody, State::kAwaitsCapture);
    Models().Retain(this);
    body->root_ = ModelHold(Models(), this);
    body->body_number_ = static_cast<uint32_t>(drafts_.size());
    drafts_.emplace_back();
    bodies_.push_back(body);
    handle = Models().Publish(body);
  }
  return Ok();
}

Status Model::CaptureCondition(Stream& stream, GraphCondition& condition, BodyChoice choice, std::span<void*> bodies, const char* call) {
  if (condition.used.exchange(true))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "params.handle belongs to another task already; create a handle for each");
  uint32_t first = 0;
  Status status = root().MakeBodies(bodies, &first);
  Task task = ConditionTask(condition, choice, first, bodies.size(), call);
  if (status.ok()) status = Capture(stream, task);
  if (!status.ok()) std::fill(bodies.begin(), bodies.end(), nullptr);
  return status;
}

Status Model::BeginBody(Stream& stream, aclmdlRICaptureMode mode) {
  LockGuard lock(mutex_);
  if (state() != State::kAwaitsCapture)
    return Fail(ACL_ERROR_RT_MODEL_CAPTURED, "the body was captured before, or is being captured; that happens once");
  mode_ = mode;
  thread_ = std::this_thread::get_id();
  OpenCapture();
  Status joined = Join(stream);
  if (!joined.ok()) CloseCapture(State::kAwaitsCapture);
  return joined;
}

// A body that comes too late is dropped.
void Model::AdoptBody(uint32_t number, BodyDraft draft) {
  {
    LockGuard lock(mutex_);
    if (capturing()) std::swap(drafts_[number], draft);
  }
  DropAll(draft.branches);
}

Status Model::RequireBodies() const {
  if (std::all_of(drafts_.begin(), drafts_.end(), [](const BodyDraft& draft) { return draft.complete; })) return Ok();
  return Fail(
      ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
      "a body of a condition has not been captured completely; capture each by aclmdlRICaptureToModelRIBegin, if only as an empty one");
}

void Model::LayOutBodies() {
  for (BodyDraft& draft : drafts_) {
    GraphBody body;
    body.first_branch = static_cast<uint32_t>(graph_.branches.size());
    body.branches = static_cast<uint32_t>(draft.branches.size());
    body.first_edge = graph_.edges;
    body.edges = draft.edges;
    graph_.edges += draft.edges;
    for (auto& branch : draft.branches) {
      for (Task& task : branch) {
        if (task.kind == TaskKind::kSignal || task.kind == TaskKind::kAwaitSignal) task.edge.index += body.first_edge;
      }
      graph_.branches.push_back(std::move(branch));
    }
    graph_.bodies.push_back(body);
  }
  drafts_.clear();
  graph_.dormant.assign(own_branches_, false);
  graph_.dormant.resize(graph_.branches.size(), true);
}

void Model::ForgetBodies() {
  decltype(bodies_) bodies;
  decltype(drafts_) drafts;
  decltype(conditions_) conditions;
  {
    LockGuard lock(mutex_);
    bodies.swap(bodies_);
    drafts.swap(drafts_);
    conditions.swap(conditions_);
  }
  for (const BodyDraft& draft : drafts) DropAll(draft.branches);
  for (Model* body : bodies) {
    body->AbandonCapture();
    if (Models().Retire(body, body->generation())) Models().Release(body);
  }
  for (GraphCondition* condition : conditions) {
    if (Conditions().Retire(condition, condition->generation())) Conditions().Release(condition);
  }
}

}  // namespace ropeway
