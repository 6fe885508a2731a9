// What becomes of a model once it is captured or built.
#include "stream/model.h"

#include <sched.h>

#include <algorithm>

#include "acl/error_codes/rt_error_codes.h"
#include "base/no_destroy.h"
#include "stream/operation.h"

namespace ropeway {
namespace {

constexpr int kDestroyLimitMs = 10000;  // rules/graphs.md 4

}  // namespace

ModelSlab& Models() {
  static constinit NoDestroy<ModelSlab> slab;
  return slab.get();
}

ModelPartSlab& ModelParts() {
  static constinit NoDestroy<ModelPartSlab> slab;
  return slab.get();
}

// --- Replay -------------------------------------------------------------------------------------------------------------

namespace {

OrderSight OrderBehind(Record& awaited, const Event& event) {
  return {static_cast<uint32_t>(awaited.stream().id()), awaited.sequence(), 0, 0, nullptr, static_cast<uint32_t>(event.id())};
}

}  // namespace

namespace {

// Operations of a replay that will not be, when something goes wrong on the way.
struct MadeOperations {
  ReplayBinding* bindings;
  std::vector<size_t> indices;
  ~MadeOperations() {
    for (const size_t i : indices) bindings[i].marker->Dropped();
  }
};

}  // namespace

// An external record counts as one that this replay's submit makes; an external wait is tied to the latest record of now; an operation is
// made anew, in the order of the capture.
ReplayBinding* Model::Bind(const StreamRef& stream, std::vector<std::pair<Event*, Record*>>* records, std::vector<OrderSight>* orders) {
  if (externals_.empty()) return nullptr;
  records->reserve(externals_.size());
  if (ActiveWatcher() != nullptr) orders->reserve(externals_.size());
  auto bindings = std::make_unique<ReplayBinding[]>(externals_.size());
  MadeOperations made{bindings.get(), {}};
  made.indices.reserve(externals_.size());
  for (size_t i = 0; i < externals_.size(); ++i) {
    if (!externals_[i].source) continue;
    bindings[i] = externals_[i].source->MakeFor(*stream.stream)->BindToReplay();
    made.indices.push_back(i);
  }
  for (size_t i = 0; i < externals_.size(); ++i) {
    if (!externals_[i].record) continue;
    Event& event = *externals_[i].event;
    Record* record = MakeRecord(event, stream, *records);
    if (record == nullptr) continue;
    bindings[i].marker = record;
    records->emplace_back(&event, record);
  }
  for (size_t i = 0; i < externals_.size(); ++i) {
    if (externals_[i].record) continue;
    if (externals_[i].source) continue;
    Event& event = *externals_[i].event;
    const RecordHold awaited = event.BindWait(&bindings[i]);
    if (awaited && ActiveWatcher() != nullptr) orders->push_back(OrderBehind(*awaited, event));
  }
  made.indices.clear();
  return bindings.release();
}

// Takes those before it back when there is no memory for the next.
Record* Model::MakeRecord(Event& event, const StreamRef& stream, const std::vector<std::pair<Event*, Record*>>& before) try {
  return event.MakeRecord(stream.stream, true);
} catch (...) {
  for (auto& [other, record] : before) {
    Records().Release(record);  // of the task that will not be
    other->AdoptRecord(record, 0, false);
  }
  throw;
}

Status Model::Execute(StreamRef stream, const FailureScope* current, const char* call) {
  if (hand_built()) return ExecuteHandBuilt(stream, current, call);
  uint64_t number = 0;
  {
    LockGuard lock(mutex_);
    if (state() != State::kReady) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the model is being destroyed by another thread");
    std::erase_if(executions_, [](const Execution& past) { return past.complete(); });
    ExpectExecution();
    number = ++replays_;
  }
  struct Submitting {
    Model& model;
    ~Submitting() {
      LockGuard lock(model.mutex_);
      --model.submitting_;
    }
  } submitting{*this};
  StreamHold on(Streams(), Streams().Acquire(stream.stream, stream.generation));
  if (!on) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the stream was destroyed by another thread");
  std::vector<std::pair<Event*, Record*>> records;
  Task task{};
  task.kind = TaskKind::kReplay;
  task.call = call;
  std::vector<OrderSight> orders;
  task.replay = {&graph_, Bind(stream, &records, &orders), FreeClock::Now(), number};
  Models().Retain(this);  // the task's: whoever destroys the model, the graph stays until the replay is gone
  uint64_t sequence = 0;
  Status status = on->EnqueueNumbered(stream.generation, current, task, &sequence);
  for (auto& [event, record] : records) event->AdoptRecord(record, sequence, status.ok());
  if (!status.ok()) {
    DropTask(task);
    return status;
  }
  Watcher* const watcher = ActiveWatcher();  // it may have left meanwhile
  for (OrderSight& order : orders) {
    order.to_stream = static_cast<uint32_t>(on->id());
    order.to_sequence = sequence;
    order.call = call;
    if (watcher != nullptr) watcher->Ordered(order);
  }
  LockGuard lock(mutex_);
  executions_.push_back({std::move(on), sequence, nullptr, number});
  return status;
}

bool Model::Pending() {
  return submitting_ > 0 ||
         std::any_of(executions_.begin(), executions_.end(), [](const Execution& execution) { return !execution.complete(); });
}

Status Model::Destroy() {
  std::vector<Execution> executions;
  State before;
  {
    LockGuard lock(mutex_);
    before = state();
    if (before != State::kReady && before != State::kBuilding)
      return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the model is being destroyed by another thread");
    state_.store(State::kDestroying, std::memory_order_release);
  }
  const Deadline deadline = Deadline::AfterMs(kDestroyLimitMs);
  for (bool submitting = true; submitting;) {
    LockGuard lock(mutex_);
    submitting = submitting_ > 0;
    if (submitting) sched_yield();
    if (!submitting) executions = std::move(executions_);
  }
  for (Execution& execution : executions) {
    // A waiting thread helps, so this also gets a late schedule going. An abort ends the wait before it has ended the replay.
    Queue& queue = execution.stream->queue();
    if (queue.completed() >= execution.sequence) continue;
    const HostWait wait(WaitReason::kWork, static_cast<uint32_t>(execution.stream->id()), execution.sequence);
    WaitOutcome outcome = WaitOutcome::kAborted;
    while (outcome == WaitOutcome::kAborted && queue.completed() < execution.sequence) outcome = queue.Wait(execution.sequence, deadline);
    if (outcome != WaitOutcome::kTimeout) continue;
    LockGuard lock(mutex_);
    executions_ = std::move(executions);
    state_.store(before, std::memory_order_release);
    return Fail(ACL_ERROR_RT_MODEL_RUNNING, "a replay did not end within %d s; the model was not destroyed", kDestroyLimitMs / 1000);
  }
  if (hand_built()) Dismantle(std::move(executions));
  Vanish();
  return Ok();
}

void Model::DestroyWithContext() {
  std::vector<Execution> executions;
  {
    LockGuard lock(mutex_);
    if (is_body() || (state() != State::kReady && state() != State::kBuilding)) return;
    state_.store(State::kDestroying, std::memory_order_release);
    executions = std::move(executions_);
  }
  if (hand_built()) Dismantle(std::move(executions));
  Vanish();
}

// No call finds it any more; the last reference cleans up.
void Model::Vanish() {
  if (!Models().Retire(this, generation())) return;
  decltype(callbacks_) callbacks;
  decltype(parts_) parts;
  {
    LockGuard lock(mutex_);
    callbacks.swap(callbacks_);
    parts.swap(parts_);
  }
  ForgetBodies();
  for (const Callback& callback : callbacks) callback.function(callback.argument);
  for (auto& [place, part] : parts) {
    if (ModelParts().Retire(part, part->generation())) ModelParts().Release(part);
  }
  Models().Release(this);
}

void Model::Recycle() {
  for (auto& branch : graph_.branches) {
    for (const Task& task : branch) DropTask(task);
  }
  graph_.branches.clear();
  graph_.edges = 0;
  graph_.bindings = 0;
  branch_states_.clear();
  externals_.clear();
  executions_.clear();
  changes_.clear();
  callbacks_.clear();
  graph_.apart.Forget();
  graph_.dormant.clear();
  graph_.jump_tables.clear();
  graph_.bodies.clear();
  graph_.prologue.clear();
  variables_.clear();
  own_branches_ = 0;
  root_ = ModelHold();
  graph_.ends_at_mark = false;
  kind_ = Kind::kCaptured;
  marks_ = 0;
  resolved_ = false;
  next_task_id_ = 1;
  replays_ = 0;
  name_.clear();
  submitting_ = 0;
}

// --- Looking at it, and changing it -------------------------------------------------------------------------------------

void* Model::HandleOfPart(ModelPart::Kind kind, size_t branch, size_t index) {
  LockGuard lock(mutex_);
  const ModelPart* part = Part(kind, branch, index);
  return part == nullptr ? nullptr : ModelParts().HandleOf(part);
}

ModelPart* Model::Part(ModelPart::Kind kind, size_t branch, size_t index) {
  auto it = parts_.find({kind, branch, index});
  if (it != parts_.end()) return it->second;
  SlabDraft<ModelPartSlab, ModelPart> part(ModelParts(), ModelParts().Take());
  if (!part) return nullptr;
  part->kind = kind;
  part->model = this;
  part->branch = branch;
  part->index = index;
  ModelPart*& place = parts_[std::tuple(kind, branch, index)];
  place = part.Keep();
  ModelParts().Publish(place);
  return place;
}

Status Model::Change(size_t branch, size_t index, const Task& task) {
  LockGuard lock(mutex_);
  if (state() != State::kReady || Pending())
    return Fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED, "the model is being captured or replayed; wait for that to end");
  changes_.push_back({{branch, index}, task});
  return Ok();
}

Task Model::TaskAt(size_t branch, size_t index) {
  LockGuard lock(mutex_);
  Task task = graph_.branches[branch][index];
  for (const auto& [place, changed] : changes_) {
    if (place == std::pair(branch, index)) task = changed;
  }
  return task;
}

Status Model::ApplyChanges() {
  LockGuard lock(mutex_);
  if (state() != State::kReady || Pending())
    return Fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED, "the model is being captured or replayed; wait for that to end");
  for (const auto& [place, task] : changes_) graph_.branches[place.first][place.second] = task;
  changes_.clear();
  graph_.apart.Forget();
  return Ok();
}

bool Model::AddDestroyCallback(Callback callback) {
  LockGuard lock(mutex_);
  if (std::any_of(callbacks_.begin(), callbacks_.end(), [&](const Callback& other) { return other.function == callback.function; }))
    return false;
  callbacks_.push_back(callback);
  return true;
}

bool Model::RemoveDestroyCallback(aclrtCallback function) {
  LockGuard lock(mutex_);
  return std::erase_if(callbacks_, [&](const Callback& callback) { return callback.function == function; }) > 0;
}

std::string Model::name() {
  LockGuard lock(mutex_);
  return name_;
}

void Model::set_name(std::string name) {
  LockGuard lock(mutex_);
  name_ = std::move(name);
}

}  // namespace ropeway
