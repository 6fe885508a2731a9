// How work gets into a model.
#include <algorithm>
#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "base/mutex.h"
#include "stream/model.h"

namespace ropeway {
namespace {

std::atomic<int> g_open_captures{0};
std::atomic<uint32_t> g_next_model_id{1};

// Streams that are driven elsewhere cannot take part.
constexpr uint32_t kExcluded = ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

Task EdgeTask(TaskKind kind, uint32_t index, const char* call, uint8_t flags = Task::kOfEvent) {
  Task task{};
  task.kind = kind;
  task.flags = flags;
  task.call = call;
  task.edge = {index};
  return task;
}

// So that the next one cannot fail for lack of memory.
template <typename T>
void MakeRoom(std::vector<T>& items) {
  if (items.size() == items.capacity()) items.reserve(2 * items.size() + 1);
}

}  // namespace

int Model::open_captures() { return g_open_captures.load(std::memory_order_acquire); }

Status Model::RequireSuitable(const Stream& stream) {
  if ((stream.flags() & kExcluded) == 0) return Ok();
  return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d was created with flags 0x%x and cannot take part in a capture", stream.id(),
              stream.flags());
}

void Model::BeginLife(FailureScope* scope, Kind kind, State state) {
  scope_ = scope;
  scope_epoch_ = scope->epoch();
  id_ = g_next_model_id.fetch_add(1, std::memory_order_relaxed);
  kind_ = kind;
  state_.store(state, std::memory_order_release);
}

Status Model::BeginCapture(Stream& stream, aclmdlRICaptureMode mode) {
  Model* model = Models().Take();
  if (model == nullptr) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no room for another model");
  model->BeginLife(&stream.failure_scope(), Kind::kCaptured, State::kAwaitsCapture);
  model->mode_ = mode;
  model->thread_ = std::this_thread::get_id();
  Status joined;
  {
    // Locked before anybody can see it: whoever closes the context abandons the capture as soon as he finds it, and then it is not ours.
    LockGuard lock(model->mutex_);
    Models().Publish(model);
    model->OpenCapture();
    joined = model->Join(stream);
    if (!joined.ok()) model->CloseCapture(State::kDestroying);
  }
  if (!joined.ok()) model->Vanish();
  return joined;
}

// What is lost here would be missing from every replay, so the capture is worth nothing any more (rules/graphs.md 2).
template <typename Body>
Status Model::Storing(Body&& body) {
  try {
    body();
    return Ok();
  } catch (const std::bad_alloc&) {
    Invalidate();
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "host memory is exhausted: the task was not stored, and the capture is invalid now; end it");
  }
}

Status Model::Join(Stream& stream) {
  RW_TRY(Storing([&]() RW_REQUIRES(mutex_) {
    MakeRoom(branch_states_);
    MakeRoom(graph_.branches);
  }));
  if (!stream.EnterCapture(this)) return Fail(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured already", stream.id());
  Streams().Retain(&stream);
  branch_states_.push_back({StreamHold(Streams(), &stream), true, false, nullptr});
  graph_.branches.emplace_back();
  return Ok();
}

size_t Model::BranchOf(const Stream& stream) const {
  auto it =
      std::find_if(branch_states_.begin(), branch_states_.end(), [&](const BranchState& branch) { return branch.stream.get() == &stream; });
  return static_cast<size_t>(it - branch_states_.begin());
}

// The stream may have left while the caller was on its way.
Status Model::RequireOpen(size_t branch) const {
  if (branch == branch_states_.size()) return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "the capture was ended by another thread meanwhile");
  if (state() == State::kInvalid)
    return Fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "the capture has become invalid by an earlier failure; end it");
  return Ok();
}

Status Model::Append(size_t branch, const Task& task) {
  RW_TRY(Storing([&]() RW_REQUIRES(mutex_) { graph_.branches[branch].push_back(task); }));
  graph_.branches[branch].back().id = next_task_id_++;
  return Ok();
}

Status Model::Capture(Stream& stream, Task& task) {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  RW_TRY(RequireOpen(branch));
  RW_TRY(RequireGroupAllows(branch, task.kind));
  RW_TRY(branch_states_[branch].group ? AppendToGroup(branch, task) : Append(branch, task));
  task.id = graph_.branches[branch].back().id;
  return Ok();
}

void Model::Invalidate() {
  State capturing = State::kCapturing;
  state_.compare_exchange_strong(capturing, State::kInvalid, std::memory_order_acq_rel);
}

Status Model::CaptureRecord(Stream& stream, uint32_t* edge, const char* call) {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  RW_TRY(RequireOpen(branch));
  RW_TRY(RequireGroupAllows(branch, TaskKind::kSignal));
  *edge = graph_.edges++;
  return Append(branch, EdgeTask(TaskKind::kSignal, *edge, call));
}

Status Model::CaptureWait(Stream& stream, uint32_t edge, const char* call) {
  LockGuard lock(mutex_);
  if (!capturing()) return Ok();  // ended meanwhile: the event is unrecorded
  RW_TRY(RequireOpen(0));
  const size_t branch = BranchOf(stream);
  RW_TRY(RequireGroupAllows(branch, TaskKind::kAwaitSignal));
  if (branch == branch_states_.size()) {
    RW_TRY(stream.RequireContext(scope_));
    RW_TRY(RequireSuitable(stream));
    RW_TRY(Join(stream));
  }
  return Append(branch, EdgeTask(TaskKind::kAwaitSignal, edge, call));
}

Status Model::CaptureExternal(Stream& stream, Event& event, bool record, const char* call) {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  RW_TRY(RequireOpen(branch));
  RW_TRY(RequireGroupAllows(branch, record ? TaskKind::kMarkBound : TaskKind::kAwaitBound));
  if (std::any_of(externals_.begin(), externals_.end(), [&](const External& other) { return other.event.get() == &event; }))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the event has an external operation in this graph already; one is allowed");
  RW_TRY(Storing([&]() RW_REQUIRES(mutex_) { MakeRoom(externals_); }));
  Events().Retain(&event);
  externals_.push_back({EventHold(Events(), &event), record, nullptr});
  return Append(branch, EdgeTask(record ? TaskKind::kMarkBound : TaskKind::kAwaitBound, graph_.bindings++, call));
}

Status Model::CaptureOperation(Stream& stream, std::shared_ptr<OperationSource> source, const char* call) {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  RW_TRY(RequireOpen(branch));
  if (is_body())
    return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "work between ranks cannot be in the body of a condition; capture it in the graph itself");
  RW_TRY(RequireGroupAllows(branch, TaskKind::kAwaitBound));
  RW_TRY(Storing([&]() RW_REQUIRES(mutex_) { MakeRoom(externals_); }));
  RW_TRY(Append(branch, EdgeTask(TaskKind::kAwaitBound, graph_.bindings, call, 0)));
  ++graph_.bindings;
  externals_.push_back({EventHold(), false, std::move(source)});
  return Ok();
}

// --- The end ------------------------------------------------------------------------------------------------------------

void Model::ReleaseStreams() {
  for (BranchState& branch : branch_states_) branch.stream->LeaveCapture(this);
  branch_states_.clear();
}

void Model::OpenCapture() {
  state_.store(State::kCapturing, std::memory_order_release);
  g_open_captures.fetch_add(1, std::memory_order_seq_cst);
}

void Model::CloseCapture(State state) {
  ReleaseStreams();
  state_.store(state, std::memory_order_release);
  g_open_captures.fetch_sub(1, std::memory_order_seq_cst);
}

// The last thing on a joined stream is a record, and the origin waits for it, directly or through other joined streams.
Status Model::RequireJoined() const {
  const auto& branches = graph_.branches;
  std::vector<bool> awaited(graph_.edges, false);
  std::vector<bool> joined(branches.size(), false);
  const auto adopt = [&](size_t branch) RW_REQUIRES(mutex_) {
    joined[branch] = true;
    for (const Task& task : branches[branch]) {
      if (task.kind == TaskKind::kAwaitSignal) awaited[task.edge.index] = true;
    }
  };
  const auto returns = [&](size_t branch) RW_REQUIRES(mutex_) {
    for (auto task = branches[branch].rbegin(); task != branches[branch].rend() && task->kind == TaskKind::kSignal; ++task) {
      if (awaited[task->edge.index]) return true;
    }
    return false;
  };
  adopt(0);
  for (bool more = true; more;) {
    more = false;
    for (size_t branch = 1; branch < branches.size(); ++branch) {
      if (joined[branch] || !returns(branch)) continue;
      adopt(branch);
      more = true;
    }
  }
  for (size_t branch = 1; branch < branches.size(); ++branch) {
    if (!joined[branch])
      return Fail(ACL_ERROR_RT_STREAM_UNJOINED,
                  "stream %d joined the capture and did not return: let its last work be a record that the origin stream waits for",
                  branch_states_[branch].stream->id());
  }
  return Ok();
}

Status Model::EndCapture(Stream& stream) {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  if (branch == branch_states_.size()) return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "the capture was ended by another thread meanwhile");
  if (branch != 0)
    return Fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, "the capture began on stream %d; end it there", branch_states_[0].stream->id());
  Status status = [&]() RW_REQUIRES(mutex_) -> Status {
    if (mode_ != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && !begun_by_this_thread())
      return Fail(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, "the capture was begun by another thread, and its mode is not RELAXED");
    if (state() == State::kInvalid)
      return Fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "the capture has become invalid by an earlier failure");
    RW_TRY(RequireBodies());
    RW_TRY(RequireJoined());
    if (std::any_of(branch_states_.begin(), branch_states_.end(), [](const BranchState& state) { return state.group != nullptr; }))
      return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "a task group is still open; call aclmdlRICaptureTaskGrpEnd first");
    return Ok();
  }();
  own_branches_ = graph_.branches.size();
  if (is_body()) {
    BodyDraft draft{status.ok(), std::move(graph_.branches), graph_.edges};
    graph_.branches.clear();
    CloseCapture(State::kReady);
    lock.unlock();
    root().AdoptBody(body_number_, std::move(draft));
    return status;
  }
  if (status.ok()) LayOutBodies();
  CloseCapture(status.ok() ? State::kReady : State::kDestroying);
  lock.unlock();
  if (!status.ok()) Vanish();
  return status;
}

void Model::AbandonCapture() {
  {
    LockGuard lock(mutex_);
    if (!capturing()) return;
    CloseCapture(State::kDestroying);
  }
  if (!is_body()) Vanish();  // a body goes with its root
}

// --- Task groups --------------------------------------------------------------------------------------------------------

Status Model::RequireGroupAllows(size_t branch, TaskKind kind) {
  const auto open =
      std::find_if(branch_states_.begin(), branch_states_.end(), [](const BranchState& state) { return state.group != nullptr; });
  if (open == branch_states_.end()) return Ok();
  const bool elsewhere = static_cast<size_t>(open - branch_states_.begin()) != branch;
  if (!elsewhere && kind == TaskKind::kKernel) return Ok();
  Invalidate();
  if (elsewhere)
    return Fail(ACL_ERROR_STREAM_TASK_GROUP_INTR, "a task group is open on stream %d of the same capture, and this breaks it; end it first",
                open->stream->id());
  return Fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "only kernels can be in a task group, and this is a %s", TaskKindName(kind));
}

// The graph's task runs what is the latest then.
Status Model::AppendToGroup(size_t branch, Task task) {
  std::unique_ptr<KernelCall> kernel(&KernelOf(task)), member;
  Status stored = Storing([&]() RW_REQUIRES(mutex_) {
    MakeRoom(graph_.branches[branch]);
    member = KernelGroup::Add(branch_states_[branch].group, &kernel);
  });
  kernel.release();  // the group's, or else still the caller's
  if (!stored.ok()) return stored;
  task.call_host.argument = member.release();
  return Append(branch, task);
}

Status Model::BeginGroup(Stream& stream) {
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  RW_TRY(RequireOpen(branch));
  if (branch_states_[branch].group != nullptr)
    return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "a task group is open on stream %d already; groups do not nest", stream.id());
  branch_states_[branch].group = std::make_shared<KernelGroup>();
  return Ok();
}

Status Model::EndGroup(Stream& stream, void** handle) {
  *handle = nullptr;
  LockGuard lock(mutex_);
  const size_t branch = BranchOf(stream);
  if (branch == branch_states_.size() || branch_states_[branch].group == nullptr)
    return Fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "no task group is open on stream %d", stream.id());
  if (Status status = RequireOpen(branch); !status.ok()) {
    branch_states_[branch].group.reset();
    return status;
  }
  ModelPart* group = Part(ModelPart::Kind::kGroup, branch, parts_.size());
  const std::shared_ptr<KernelGroup> kernels = std::move(branch_states_[branch].group);
  if (group == nullptr) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no handle left for a task group");
  group->kernels = kernels;
  *handle = ModelParts().HandleOf(group);
  return Ok();
}

uint64_t Model::ReplaysOver() {
  if (submitting_ > 0) return 0;
  uint64_t over = replays_;
  for (const Execution& execution : executions_) {
    if (!execution.complete()) over = std::min(over, execution.number - 1);
  }
  return over;
}

Status Model::UpdateGroup(GroupUpdate& update, StreamRef stream, const FailureScope* current, const char* call) {
  if (!update.full())
    return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the update has %zu kernels and the task group %zu; nothing was updated",
                update.kernels.size(), update.wanted);
  if (update.wanted == 0) return Ok();
  KernelGroup::Set set;
  set.kernels = update.Take();
  uint64_t over = 0;
  {
    Model& owner = root();
    LockGuard lock(owner.mutex_);
    set.behind = owner.replays_;
    over = owner.ReplaysOver();
  }
  Task task = MarkTask(KernelGroup::Replacement(update.group, std::move(set), over), {}, call);
  Status status = stream.stream->Enqueue(stream.generation, current, task);
  if (!status.ok()) DropTask(task);
  return status;
}

}  // namespace ropeway
