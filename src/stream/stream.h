// An in-order queue of tasks that belongs to a context. The engine's queue does the work; this class adds what the API
// knows about a stream: who may submit, its failure, its properties, its callback family.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hot_tls.h"
#include "base/no_destroy.h"
#include "base/slab.h"
#include "base/spin_lock.h"
#include "base/status.h"
#include "engine/engine.h"
#include "stream/failure_scope.h"
#include "stream/fence_marks.h"
#include "stream/kernel_group.h"
#include "stream/known_order.h"
#include "stream/submitter_log.h"

namespace ropeway {

class Model;
class ReportMailbox;
class Stream;

using StreamSlab = Slab<Stream, 0x41>;
inline StreamSlab& Streams();
using StreamHold = SlabRef<StreamSlab, Stream>;

// A stream as a call found it. The generation is checked again under the stream's lock when something is submitted, so a
// stream that is destroyed in between is noticed, and the fast path needs no reference count.
struct StreamRef {
  Stream* stream = nullptr;
  uint32_t generation = 0;
};

struct StreamOptions {
  Engine* engine;
  FailureScope* scope;  // identifies the context, too
  int device;
  int priority;
  uint32_t flags;
  bool is_default;
  int device_of_user = -1;  // as rules of ROPEWAY_FAULTS name it
  bool hidden = false;      // no program knows of it, and no rule of ROPEWAY_FAULTS strikes it
};

class Stream final : public SlabObject, public QueueOwner {
 public:
  // Streams whose work is recorded or driven elsewhere: synchronise and query answer at once.
  static constexpr uint32_t kNeverWaitedFor = 0x04 | 0x10 | 0x20;  // PERSISTENT, CPU_SCHEDULE, DEVICE_USE_ONLY
  static constexpr uint32_t kPersistent = 0x04;
  static constexpr size_t kMostKept = 60000;  // tasks of a persistent stream (rules/models.md 1)

  // A live stream, reachable through its handle; null when the process has no more room.
  static Stream* Create(const StreamOptions& options);
  // One for work inside the library, of the same context; null as above. It is ended by EndHidden.
  static Stream* CreateHidden(const Stream& like);
  void EndHidden();

  // Queues a task for the context `current`. 107017 stale, 107003 another context, 107023 being aborted, or the failure of
  // a context in stop mode.
  Status Enqueue(uint32_t generation_seen, const FailureScope* current, Task& task) {
    if (EnqueuePlainly(generation_seen, current, task, nullptr)) [[likely]]
      return Ok();
    uint64_t sequence;
    return EnqueueNumbered(generation_seen, current, task, &sequence);
  }
  // The common way in as few steps as it takes; false: nothing happened, and EnqueueNumbered knows why. `caller`: of a call that has not
  // been noted yet (base/call_site.h); null where it has been.
  bool EnqueuePlainly(uint32_t generation_seen, const FailureScope* current, Task& task, const void* caller);
  // The same for those who want to know the task's number.
  Status EnqueueNumbered(uint32_t generation_seen, const FailureScope* current, Task& task, uint64_t* sequence);

  // Whether a task of this context would be run at once, and nothing stands in its way: no work, no capture, nobody who watches.
  bool Idle(uint32_t generation_seen, const FailureScope* current);

  // Waits for what was submitted before the call, then delivers the stream's error once (continue mode).
  Status Synchronize(Deadline deadline);
  // As above without delivering: 0, 507046 or 107023.
  Status AwaitWork(Deadline deadline);
  bool Query();

  // Makes the handle stale, so that nothing more can be submitted. False: somebody else did it before.
  bool BeginDestroy(uint32_t generation_seen);
  // Waits for the work (`force`: drops it) and gives the handle's reference back. False when called from a host function
  // that this stream waits for (nothing is released then; the process would hang otherwise).
  bool FinishDestroy(bool force);
  Status Abort();
  // Runs nothing more until the next abort; the queue keeps its tasks.
  Status Stop();

  bool TaskFailed(const Task& task, uint64_t sequence, int code, const char* text) override;
  // Takes the pending error, once the program's exception callbacks know of it; 0 when there is none. The text goes where Fail puts texts.
  Status DeliverError();
  // The same of a hidden stream, for whoever tells it: the code, with its text.
  int TakeError(char (&text)[FailureScope::kTextSize]);

  // --- Capture: work is handed to a model instead of the queue ----------------------------------------------------------
  bool capturing() const { return (obstacles_.load(std::memory_order_acquire) & kCapturing) != 0; }
  // The model, with a reference that the caller gives back; null when the stream is not being captured.
  Model* HoldCapture();
  // False: it takes part in a capture already.
  bool EnterCapture(Model* model);
  void LeaveCapture(Model* model);
  // --- Models built by hand: a persistent stream that is bound keeps its tasks in the model (rules/models.md 1) -------------
  bool bound() const { return (obstacles_.load(std::memory_order_acquire) & kBound) != 0; }
  // The model, with a reference that the caller gives back; null when the stream is not bound.
  Model* HoldBinding();
  // False: it has another model, or is being captured. `kept` takes the tasks that it has kept so far.
  bool EnterModel(Model* model, std::vector<Task>* kept);
  // The tasks are the stream's again, unless it has ended meanwhile: then they are left where they are.
  void LeaveModel(Model* model, std::vector<Task>* kept);

  // A task group of a model is updated by what is submitted between the two (rules/graphs.md 6).
  bool BeginUpdate(std::unique_ptr<GroupUpdate> update);
  std::unique_ptr<GroupUpdate> EndUpdate();

  int id() const { return id_.load(std::memory_order_relaxed); }
  int device() const { return options_.device; }
  uint32_t flags() const { return options_.flags; }
  bool is_default() const { return options_.is_default; }
  // 107003 when the stream belongs to another context: for calls that owe this answer before their last checks. Enqueue
  // checks again.
  Status RequireContext(const FailureScope* current) const;
  Queue& queue() { return *queue_; }
  // A wait of the program's thread, which a watcher hears of.
  WaitOutcome WaitTold(uint64_t sequence, Deadline deadline);
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  void SetPriority(int priority);
  FailureScope& failure_scope() { return *options_.scope; }
  void* handle() const { return Streams().HandleOf(this); }

  // --- Callbacks: a stream belongs to one of the two families (rules/callbacks.md) -------------------------------------------
  enum class Family : uint8_t { kNone, kReport, kHostFunction };
  SpinLock& lock() RW_RETURN_CAPABILITY(lock_) { return lock_; }
  // The rest wants lock() held.
  Family family = Family::kNone;
  ReportMailbox* mailbox = nullptr;

  // The first failure drops the rest of this stream, whatever the context's mode.
  std::atomic<bool> stops_alone{false};

  // Of a hidden stream: its failures are somebody else's to tell.
  std::atomic<bool> quiet{false};

  // Plain properties that only mirror what was set.
  std::atomic<bool> stop_mode{false};
  std::atomic<uint32_t> overflow_switch{0};
  std::atomic<uint32_t> custom_tag{0};
  std::atomic<uint32_t> cache_op_info{0};

  // Whether somebody watches (engine/watcher.h), so that submits tell him.
  void SetWatched(bool watched);

  KnownOrder known_order;

  // --- For fences -------------------------------------------------------------------------------------------------------
  // Nothing is queued, and nothing will be before Rouse. False: something is.
  bool Rest();
  // False: it was not at rest.
  bool Rouse();
  FenceMarks fence_marks;

  // Next stream of the same context, and how the context found it when it closed; guarded by the context.
  Stream* next_in_context = nullptr;
  uint32_t generation_at_close = 0;
  bool ours_to_destroy = false;

  void Recycle();  // for the slab

 private:
  friend struct StateShape;  // api/state_table.cpp
  // Why a task is not simply submitted.
  static constexpr uint64_t kAborting = 1;
  static constexpr uint64_t kKeeping = 2;
  static constexpr uint64_t kWatched = 4;
  static constexpr uint64_t kCapturing = 8;
  static constexpr uint64_t kUpdating = 16;
  static constexpr uint64_t kResting = 32;
  static constexpr uint64_t kBound = 128;
  static constexpr uint64_t kFaulty = 64;  // rules of ROPEWAY_FAULTS want to see every task
  // In the upper half: the thread that submitted last (t_submitter). Another one makes itself known first.
  static constexpr int kSubmitterShift = 32;
  static constexpr uint64_t kSubmitter = uint64_t{0xFFFFFFFF} << kSubmitterShift;
  static constexpr uint64_t kNobody = kSubmitter;
  bool aborting() const { return (obstacles_.load(std::memory_order_acquire) & kAborting) != 0; }
  Status MayEnqueue(uint32_t generation_seen, const FailureScope* current) RW_REQUIRES(lock_);
  Status KeepForUpdate(const Task& task) RW_REQUIRES(lock_);
  // Task `next` will be the calling thread's. Wants lock_ held.
  Status KnowSubmitter(uint64_t next);
  bool Capture(uint32_t generation_seen, const FailureScope* current, Task& task, Status* status);
  bool StoreInModel(Task& task, Status* status);
  Queue::Submission SubmitTold(Task& task);
  // What EnqueuePlainly does, in parts.
  bool IsSound(uint32_t generation_seen, const FailureScope* current) const RW_REQUIRES(lock_);
  [[gnu::noinline]] bool EnqueueNoted(uint32_t generation_seen, const FailureScope* current, Task& task, const void* caller)
      RW_RELEASE(lock_);
  bool Submitted(const Queue::Submission& submission, const Task& task);
  // What rules do to a task is decided once, when there is room for it, and then carried out as room comes.
  struct Struck {
    bool decided = false;
    int64_t delay_ns = 0;
    int code = 0;
    bool replaced = false;  // the task itself will not run
  };
  [[gnu::cold]] Queue::Submission SubmitStruck(Task& task, Struck* struck);
  // 507046, with what is in the way of task `last`.
  [[gnu::cold]] Status ExplainTimeout(uint64_t last, int64_t waited_ns);
  Status KeepForLater(const Task& task) RW_REQUIRES(lock_);
  void DropKept();

  StreamOptions options_{};
  std::atomic<const FailureScope*> scope_{nullptr};  // as in options_, for a look without the lock
  std::atomic<int> id_{0};                           // read through stale handles, too, for messages
  std::unique_ptr<Queue> queue_;
  std::atomic<int> priority_{0};
  std::atomic<uint64_t> obstacles_{kNobody | kResting};  // the upper half is written under lock_
  SubmitterLog submitters_;

  SpinLock lock_{LockRank::kStream};                              // serialises submitters
  std::unique_ptr<std::vector<Task>> kept_ RW_GUARDED_BY(lock_);  // of a persistent stream
  Model* model_ RW_GUARDED_BY(lock_) = nullptr;                   // that it is bound to, with a reference
  Model* capture_ RW_GUARDED_BY(lock_) = nullptr;                 // with a reference
  std::unique_ptr<GroupUpdate> update_ RW_GUARDED_BY(lock_);

  Mutex error_mutex_{LockRank::kStreamError};
  std::atomic<int> error_code_{0};                                             // first failure since the last delivery
  char error_text_[FailureScope::kTextSize] RW_GUARDED_BY(error_mutex_) = {};  // room for any, since a failure has to be told
};

extern constinit NoDestroy<StreamSlab> g_streams;
inline StreamSlab& Streams() { return g_streams.get(); }

// The id of the last task that the calling thread submitted.
extern constinit thread_local uint32_t t_last_task_id RW_HOT_TLS;
// The calling thread's number as Stream::obstacles_ has it; 0 before the thread's first submit.
extern constinit thread_local uint64_t t_submitter RW_HOT_TLS;

}  // namespace ropeway
