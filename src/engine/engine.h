// What runs tasks and moves bytes. The runtime above speaks to an engine through these two interfaces only; the CPU engine
// is the reference, and an engine is finished when the conformance suite passes on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "engine/backend.h"

namespace ropeway {

enum class WaitOutcome { kDone, kTimeout, kAborted };

// The stream behind a queue, as far as an engine needs it.
class QueueOwner {
 public:
  // A task failed while it ran (see TaskFailure). True: the tasks behind it shall not run (stop mode). Called on the thread
  // that ran the task; may not block. `sequence` is that of the task, or of the replay that it belongs to.
  virtual bool TaskFailed(const Task& task, uint64_t sequence, int code, const char* text) = 0;

 protected:
  ~QueueOwner() = default;
};

struct QueueOptions {
  QueueOwner* owner = nullptr;
  uint32_t stream_id = 0;
  int device = 0;
  int priority = 0;  // 0 first .. 7 last
};

// Tasks in order. Sequence numbers start at 1 and grow by one per task.
class Queue {
 public:
  virtual ~Queue() = default;

  // Makes an unused queue ready for a new stream. Nothing may be pending.
  virtual void Open(const QueueOptions& options) = 0;
  virtual void SetPriority(int priority) = 0;

  // The number that the next task will have; 0: the queue is full. Submitters are serialised by the caller.
  virtual uint64_t NextSequence() = 0;
  // Appends a task; the low half of its sequence number becomes its id. Submitters are serialised by the caller, who calls
  // Kick() outside its lock when that is needed for the task to get going.
  struct Submission {
    uint64_t sequence;  // 0: the queue is full
    bool needs_kick;
  };
  virtual Submission Submit(Task& task) = 0;
  virtual void Kick(const Task& task) = 0;
  // Blocks until there may be room again, or the queue is being aborted.
  virtual void AwaitRoom() = 0;

  virtual uint64_t submitted() const = 0;
  // Grows only. The effects of task n are visible to whoever has seen completed() >= n.
  virtual uint64_t completed() const = 0;

  // The two are about to be looked at: asks for what others have written of them.
  virtual void ExpectLook() const {}

  // The first task that is not complete, if there is one. The caller keeps submitters out.
  virtual std::optional<Task> FirstPending() const = 0;

  // Blocks until task `sequence` is complete. A waiting thread helps.
  virtual WaitOutcome Wait(uint64_t sequence, Deadline deadline) = 0;
  // Somebody asked whether work is done: schedules that run late take it as a hint.
  virtual void Poll() = 0;

  // Drops everything submitted so far that has not run, finishes what runs, and lets waiters go with kAborted. When it
  // returns, nothing of the dropped work touches memory any more. False when called from a host function that this
  // queue is waiting for.
  virtual bool Abort() = 0;
  // Whether the calling thread runs the very host function that this queue waits for.
  virtual bool InsideOwnCall() const = 0;
  // Lets the running task end and starts no other until the next Abort.
  virtual void Halt() = 0;
  // Its head waits at a closed gate, or it is halted: nothing moves until somebody else acts.
  virtual bool HeldUp() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Traits& traits() const = 0;

  virtual EngineMemory& memory() = 0;
  // Whom to ask about addresses that come up while tasks run; set once, before the first queue is made.
  virtual void SetJudge(const AddressJudge* judge) = 0;

  virtual std::unique_ptr<Queue> CreateQueue() = 0;

  // The calling thread will run a copy soon, if nothing is wrong with its addresses.
  virtual void ExpectCopy(void* /*dst*/, const void* /*src*/, size_t /*size*/) {}
  // Runs one task whose addresses were checked on the calling thread, not in any stream's order. 0, or the code of a failure.
  virtual int RunNow(const Task& task, TaskFailure* failure) = 0;

  // The process ends: running tasks finish or are cut short, queued ones stay undone, and no thread of the engine touches
  // memory afterwards. Bounded in time.
  virtual void Stop() = 0;
};

}  // namespace ropeway
