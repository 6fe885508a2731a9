// A graph of stored work: captured (rules/graphs.md), from the moment a capture begins until it is destroyed, or built by hand
// (rules/models.md). While it is being made, the streams that take part hand their tasks to it instead of their queues; afterwards it can
// be replayed any number of times.
//
// Locks: a model's mutex comes before the locks of streams and events. What a stream takes part in is read under the
// stream's lock and written under both.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "base/status.h"
#include "engine/task_graph.h"
#include "engine/watcher.h"
#include "stream/event.h"
#include "stream/kernel_group.h"
#include "stream/stream.h"

namespace ropeway {

class Label;
class Model;
class ModelRun;
class OperationSource;
using ModelSlab = Slab<Model, 0x71>;
ModelSlab& Models();
using ModelHold = SlabRef<ModelSlab, Model>;

// What programs name inside a model: a stream of it, a task, or a task group. Handles are good as long as the model is.
class ModelPart final : public SlabObject {
 public:
  enum class Kind { kStream, kTask, kGroup };
  Kind kind = Kind::kStream;
  Model* model = nullptr;
  size_t branch = 0;
  size_t index = 0;  // of a task in its branch
  // Of a group:
  std::atomic<void*> updater{nullptr};  // the stream that is updating it
  std::shared_ptr<KernelGroup> kernels;
  void Recycle() {
    updater.store(nullptr);
    kernels.reset();
  }
};
using ModelPartSlab = Slab<ModelPart, 0x72>;
ModelPartSlab& ModelParts();

// A number in device memory that decides which body of a captured graph runs (rules/graphs.md 8). Good as long as the root model is.
class GraphCondition final : public SlabObject {
 public:
  Model* model = nullptr;  // that it was made for: the root, or a body
  void* variable = nullptr;
  std::atomic<bool> used{false};  // by a task: one is allowed
  void Recycle() { used.store(false); }
};
using ConditionSlab = Slab<GraphCondition, 0x73>;
ConditionSlab& Conditions();
using ConditionHold = SlabRef<ConditionSlab, GraphCondition>;

class Model final : public SlabObject, private GraphKeeper {
 public:
  Model() { graph_.keeper = this; }

  enum class Kind : uint8_t { kCaptured, kBody, kHandBuilt };
  enum class State : uint8_t { kCapturing, kInvalid, kReady, kDestroying, kBuilding, kAwaitsCapture };

  bool hand_built() const { return kind_ == Kind::kHandBuilt; }
  // Of a condition in another captured model, with which it goes.
  bool is_body() const { return kind_ == Kind::kBody; }

  // --- Capture ----------------------------------------------------------------------------------------------------------
  // 507000 for streams that are driven elsewhere.
  static Status RequireSuitable(const Stream& stream);
  // `stream` has been checked; it hands its work to the new model from now on. 107027 when it already does so to another.
  static Status BeginCapture(Stream& stream, aclmdlRICaptureMode mode);
  // Ends the capture that `stream` began. Unless it answers 107036, the streams are free again; on failure the model is gone.
  Status EndCapture(Stream& stream);
  // The context goes away: the capture is dropped without a word.
  void AbandonCapture();

  // --- Conditions (rules/graphs.md 8; model_condition.cpp) ------------------------------------------------------------------
  // `variable`: 8 bytes of device memory, which go with the root model; `initial` is put there before every replay, where there is one.
  Result<void*> AddCondition(std::shared_ptr<void> variable, std::optional<uint64_t> initial);
  // Stores the task, and fills `bodies` with handles of models that are to be captured.
  Status CaptureCondition(Stream& stream, GraphCondition& condition, BodyChoice choice, std::span<void*> bodies, const char* call);
  // Captures into a body that has not been captured yet, else 107026.
  Status BeginBody(Stream& stream, aclmdlRICaptureMode mode);

  // A task that was submitted to a stream that takes part.
  Status Capture(Stream& stream, Task& task);
  // A point that others can wait for; a wait makes a stream that does not take part yet join.
  Status CaptureRecord(Stream& stream, uint32_t* edge, const char* call);
  Status CaptureWait(Stream& stream, uint32_t edge, const char* call);
  // One external operation per event. 107000 for a second one.
  Status CaptureExternal(Stream& stream, Event& event, bool record, const char* call);
  // Work that somebody outside carries out, anew in every replay.
  Status CaptureOperation(Stream& stream, std::shared_ptr<OperationSource> source, const char* call);
  void Invalidate();

  bool capturing() const { return state() == State::kCapturing || state() == State::kInvalid; }
  State state() const { return state_.load(std::memory_order_acquire); }
  aclmdlRICaptureMode mode() const { return mode_; }
  bool begun_by_this_thread() const { return thread_ == std::this_thread::get_id(); }
  // Of the whole process; nobody needs to look further while there is none.
  static int open_captures();

  // --- Models built by hand (rules/models.md; model_build.cpp, model_run.cpp) ----------------------------------------------
  static Result<Model*> BeginBuild(FailureScope* scope);
  Status Bind(Stream& stream, bool head);
  // 107005 when it is not bound to this model. Executions that are under way are waited for.
  Status Unbind(Stream& stream);
  // A task that was submitted to a bound stream. 107005 when it was unbound meanwhile.
  Status Store(Stream& stream, Task& task);
  Status StoreEnd(Stream& stream, const char* call);
  Status EndBuild();
  // Drops the tasks of a bound stream, which may be given others.
  Status Clean(Stream& stream);
  // Waits for the end, which is then the answer.
  Status ExecuteAndWait(Deadline deadline);
  // Drops what is left of the executions that are under way.
  Status Abort();
  // Streams that are bound, by their handles.
  std::vector<void*> BoundStreams();
  // Of a bound stream.
  size_t BranchNumberOf(const Stream& stream);
  // Executions of the stream that was aborted, or is being destroyed, end here.
  static void DropAbandonedRuns(Stream& stream);

  // --- Task groups: of kernels, and nothing else (rules/graphs.md 6) ------------------------------------------------------
  Status BeginGroup(Stream& stream);
  Status EndGroup(Stream& stream, void** handle);
  // Puts the new kernels of a group into the stream's order. 507000 when they are fewer than the group has.
  Status UpdateGroup(GroupUpdate& update, StreamRef stream, const FailureScope* current, const char* call);

  // --- Replay -----------------------------------------------------------------------------------------------------------
  Status Execute(StreamRef stream, const FailureScope* current, const char* call);
  // Waits for replays that are queued or running. 107037 when that takes too long; the model lives on then.
  Status Destroy();
  // The context is gone, and nothing of it runs any more.
  void DestroyWithContext();

  // --- Looking at it, and changing it -----------------------------------------------------------------------------------
  // The shape of a model that is ready stays.
  size_t branch_count() const RW_NOT_CHECKED { return own_branches_; }
  size_t task_count(size_t branch) const RW_NOT_CHECKED { return graph_.branches[branch].size(); }
  const TaskGraph& graph() const RW_NOT_CHECKED { return graph_; }
  // The handle of a part of a ready model; made on first use. Null when the process has none left.
  void* HandleOfPart(ModelPart::Kind kind, size_t branch, size_t index);
  // Changes are kept until ApplyChanges; 107040 while a replay is pending.
  Status Change(size_t branch, size_t index, const Task& task);
  Status ApplyChanges();
  // As it will be after ApplyChanges.
  Task TaskAt(size_t branch, size_t index);

  struct Callback {
    aclrtCallback function;
    void* argument;
  };
  // False: the function is registered already.
  bool AddDestroyCallback(Callback callback);
  bool RemoveDestroyCallback(aclrtCallback function);

  std::string name();
  void set_name(std::string name);
  uint32_t id() const { return id_; }
  const FailureScope* scope() const { return scope_; }
  bool scope_is_alive() const { return scope_->epoch() == scope_epoch_; }

  void Recycle() RW_NOT_CHECKED;  // nobody else has it

 private:
  struct BranchState {
    StreamHold stream;
    // Of a model built by hand:
    bool head = false;
    bool closed = false;  // takes no more tasks

    std::shared_ptr<KernelGroup> group;  // that is open
  };
  // Of an event, or of a source.
  struct External {
    EventHold event;
    bool record = false;
    std::shared_ptr<OperationSource> source;
  };
  struct Execution {
    StreamHold stream;  // of a model built by hand: a hidden one
    uint64_t sequence;
    std::shared_ptr<ModelRun> run;
    uint64_t number = 0;  // of a replay
    bool complete() const { return stream->queue().completed() >= sequence; }
  };

  size_t BranchOf(const Stream& stream) const RW_REQUIRES(mutex_);
  Status RequireOpen(size_t branch) const RW_REQUIRES(mutex_);
  // Carries out what makes the capture longer. 207001 when there is no memory for it; the capture has become invalid then.
  template <typename Body>
  Status Storing(Body&& body) RW_REQUIRES(mutex_);
  Status Append(size_t branch, const Task& task) RW_REQUIRES(mutex_);
  // Invalidates the capture where an open group does not allow this: 107034 on another stream, 507009 for anything but a kernel.
  Status RequireGroupAllows(size_t branch, TaskKind kind) RW_REQUIRES(mutex_);
  Status AppendToGroup(size_t branch, Task task) RW_REQUIRES(mutex_);
  // The number up to which all replays are over.
  uint64_t ReplaysOver() RW_REQUIRES(mutex_);
  Status Join(Stream& stream) RW_REQUIRES(mutex_);
  Status RequireJoined() const RW_REQUIRES(mutex_);
  // For a model that is about to be published.
  void BeginLife(FailureScope* scope, Kind kind, State state);
  void ReleaseStreams() RW_REQUIRES(mutex_);
  void OpenCapture() RW_REQUIRES(mutex_);
  void CloseCapture(State state) RW_REQUIRES(mutex_);
  bool Pending() RW_REQUIRES(mutex_);
  ModelPart* Part(ModelPart::Kind kind, size_t branch, size_t index) RW_REQUIRES(mutex_);

  // A body as it was captured, until the root's capture ends.
  struct BodyDraft {
    bool complete = false;
    std::vector<std::vector<Task>> branches;
    uint32_t edges = 0;
  };
  Model& root() { return root_ ? *root_ : *this; }
  Status MakeBodies(std::span<void*> handles, uint32_t* first);
  void AdoptBody(uint32_t number, BodyDraft draft);
  Status RequireBodies() const RW_REQUIRES(mutex_);
  void LayOutBodies() RW_REQUIRES(mutex_);
  void ForgetBodies();

  // Of a model built by hand.
  Status ExecuteHandBuilt(StreamRef stream, const FailureScope* current, const char* call);
  Status RequireRunnable() RW_REQUIRES(mutex_);
  void Resolve() RW_REQUIRES(mutex_);
  uint32_t BranchOfStream(uint32_t stream_id) const RW_REQUIRES(mutex_);
  // A hidden stream that has nothing to do.
  Result<StreamHold> TakeHidden();
  struct HiddenLease;
  Status ExecuteOn(StreamRef caller);
  void CollectRuns() RW_REQUIRES(mutex_);
  void ExpectExecution() RW_REQUIRES(mutex_);
  void AddExecution(Execution execution);
  // No execution is under way while it holds the lock. 507000 from inside one.
  template <typename Body>
  Status BetweenRuns(Body&& body);
  void EraseBranch(size_t branch) RW_REQUIRES(mutex_);
  void ForgetParts() RW_REQUIRES(mutex_);
  // Ends the hidden streams and gives the bound ones their tasks back.
  void Dismantle(std::vector<Execution> executions);

  void ReplayGone() override { Models().Release(this); }
  void Vanish();
  ReplayBinding* Bind(const StreamRef& stream, std::vector<std::pair<Event*, Record*>>* records,
                      std::vector<OrderSight>* orders) RW_NOT_CHECKED;  // as branch_count
  static Record* MakeRecord(Event& event, const StreamRef& stream, const std::vector<std::pair<Event*, Record*>>& before);

  static std::atomic<int> hand_built_;  // models of the process: without one, nobody needs to look for executions

  std::atomic<State> state_{State::kReady};
  ModelHold root_;  // of a body
  uint32_t body_number_ = 0;
  Kind kind_ = Kind::kCaptured;
  FailureScope* scope_ = nullptr;
  uint32_t scope_epoch_ = 0;
  uint32_t id_ = 0;
  aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  std::thread::id thread_;
  Mutex mutex_{LockRank::kModel};
  TaskGraph graph_ RW_GUARDED_BY(mutex_);
  std::vector<BranchState> branch_states_ RW_GUARDED_BY(mutex_);  // while capturing
  std::vector<External> externals_ RW_GUARDED_BY(mutex_);
  uint32_t next_task_id_ RW_GUARDED_BY(mutex_) = 1;
  std::string name_ RW_GUARDED_BY(mutex_);
  std::vector<Execution> executions_ RW_GUARDED_BY(mutex_);
  uint64_t replays_ RW_GUARDED_BY(mutex_) = 0;  // so far
  int submitting_ RW_GUARDED_BY(mutex_) = 0;
  std::vector<StreamHold> spare_ RW_GUARDED_BY(mutex_);  // hidden streams without work
  uint32_t marks_ RW_GUARDED_BY(mutex_) = 0;             // ends that were stored
  bool resolved_ RW_GUARDED_BY(mutex_) = false;          // what tasks name has been looked up
  std::map<std::tuple<ModelPart::Kind, size_t, size_t>, ModelPart*> parts_ RW_GUARDED_BY(mutex_);
  std::vector<std::pair<std::pair<size_t, size_t>, Task>> changes_ RW_GUARDED_BY(mutex_);
  std::vector<Callback> callbacks_ RW_GUARDED_BY(mutex_);
  // Of a root: its conditions and bodies, also those of bodies.
  std::vector<GraphCondition*> conditions_ RW_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<void>> variables_ RW_GUARDED_BY(mutex_);
  std::vector<Model*> bodies_ RW_GUARDED_BY(mutex_);
  std::vector<BodyDraft> drafts_ RW_GUARDED_BY(mutex_);
  size_t own_branches_ RW_GUARDED_BY(mutex_) = 0;  // the others are bodies'
};

}  // namespace ropeway
