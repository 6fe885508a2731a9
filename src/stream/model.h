// A captured graph (rules/graphs.md): from the moment a capture begins until it is destroyed. While it is being captured, the
// streams that take part hand their tasks to it instead of their queues; afterwards it can be replayed any number of times.
//
// Locks: a model's mutex comes before the locks of streams and events. What a stream takes part in is read under the
// stream's lock and written under both.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
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
#include "stream/stream.h"

namespace ropeway {

class Model;
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
  size_t index = 0;                     // of a task in its branch
  std::atomic<void*> updater{nullptr};  // of a group: the stream that is updating it
  void Recycle() { updater.store(nullptr); }
};
using ModelPartSlab = Slab<ModelPart, 0x72>;
ModelPartSlab& ModelParts();

class Model final : public SlabObject, private GraphKeeper {
 public:
  Model() { graph_.keeper = this; }

  enum class State : uint8_t { kCapturing, kInvalid, kReady, kDestroying };

  // --- Capture ----------------------------------------------------------------------------------------------------------
  // 507000 for streams that are driven elsewhere.
  static Status RequireSuitable(const Stream& stream);
  // `stream` has been checked; it hands its work to the new model from now on. 107027 when it already does so to another.
  static Status BeginCapture(Stream& stream, aclmdlRICaptureMode mode);
  // Ends the capture that `stream` began. Unless it answers 107036, the streams are free again; on failure the model is gone.
  Status EndCapture(Stream& stream);
  // The context goes away: the capture is dropped without a word.
  void AbandonCapture();

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

  // --- Task groups (rules/graphs.md 6). There are no kernels here, and nothing else may be in a group. ---------------------
  Status BeginGroup(Stream& stream);
  Status EndGroup(Stream& stream, void** handle);

  // --- Replay -----------------------------------------------------------------------------------------------------------
  Status Execute(StreamRef stream, const FailureScope* current, const char* call);
  // Waits for replays that are queued or running. 107037 when that takes too long; the model lives on then.
  Status Destroy();
  // The context is gone, and nothing of it runs any more.
  void DestroyWithContext();

  // --- Looking at it, and changing it -----------------------------------------------------------------------------------
  // The shape of a model that is ready stays.
  size_t branch_count() const RW_NOT_CHECKED { return graph_.branches.size(); }
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
  void AddDestroyCallback(Callback callback);
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
    bool group_open = false;
  };
  // Of an event, or of a source.
  struct External {
    EventHold event;
    bool record = false;
    std::shared_ptr<OperationSource> source;
  };
  struct Execution {
    StreamHold stream;
    uint64_t sequence;
  };

  size_t BranchOf(const Stream& stream) const RW_REQUIRES(mutex_);
  Status RequireOpen(size_t branch) const RW_REQUIRES(mutex_);
  // Carries out what makes the capture longer. 207001 when there is no memory for it; the capture has become invalid then.
  template <typename Body>
  Status Storing(Body&& body) RW_REQUIRES(mutex_);
  Status Append(size_t branch, const Task& task) RW_REQUIRES(mutex_);
  Status Join(Stream& stream) RW_REQUIRES(mutex_);
  Status RequireJoined() const RW_REQUIRES(mutex_);
  void ReleaseStreams() RW_REQUIRES(mutex_);
  void CloseCapture(State state) RW_REQUIRES(mutex_);
  bool Pending() RW_REQUIRES(mutex_);
  ModelPart* Part(ModelPart::Kind kind, size_t branch, size_t index) RW_REQUIRES(mutex_);

  void ReplayGone() override { Models().Release(this); }
  void Vanish();
  ReplayBinding* Bind(const StreamRef& stream, std::vector<std::pair<Event*, Record*>>* records,
                      std::vector<OrderSight>* orders) RW_NOT_CHECKED;  // as branch_count
  static Record* MakeRecord(Event& event, const StreamRef& stream, const std::vector<std::pair<Event*, Record*>>& before);

  std::atomic<State> state_{State::kReady};
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
  int submitting_ RW_GUARDED_BY(mutex_) = 0;
  std::map<std::tuple<ModelPart::Kind, size_t, size_t>, ModelPart*> parts_ RW_GUARDED_BY(mutex_);
  std::vector<std::pair<std::pair<size_t, size_t>, Task>> changes_ RW_GUARDED_BY(mutex_);
  std::vector<Callback> callbacks_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
