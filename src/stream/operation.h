// Work that somebody outside the engine carries out in a stream's order: another process, a network. A stream that comes to
// it tells it to start and waits until it is finished; it ends well, or fails the stream as a copy would.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/lasting_gate.h"
#include "stream/stream.h"

namespace ropeway {

class Operation;

// What a graph has in the place of an operation.
class OperationSource {
 public:
  virtual ~OperationSource() = default;
  // A replay on `stream` is being submitted, by the calling thread: makes its operation. Throws std::bad_alloc.
  virtual std::shared_ptr<Operation> MakeFor(const Stream& stream) = 0;
};

class Operation : public std::enable_shared_from_this<Operation> {
 public:
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Queues it, once. `timeout_ns`: how long the stream waits for the end, 0 for no limit. A stream that is being captured
  // declines it (207000): an operation happens once, and a graph needs who makes it anew (OperationSource). `sequence` takes the number of
  // its task, where it is wanted.
  Status LaunchOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call, uint64_t* sequence = nullptr);

  // Ties it, once, to a replay that is about to be submitted.
  ReplayBinding BindToReplay();

  // The work is over: 0, or the code and the reason of its failure. Any thread; only the first call counts. False: it did not
  // count, because it was not the first or the stream no longer waits.
  bool Finish(int code, const char* text);

 protected:
  // `signal`: what the operation does to something that others wait for, or waits for itself.
  explicit Operation(const Signal& signal = {}) : signal_(signal) {}
  // The same, where it is known later; before LaunchOn.
  void SetSignal(const Signal& signal) { signal_ = signal; }
  // Start takes a moment, and does not mind who calls it; before LaunchOn.
  void SetBrief() { brief_ = true; }
  // The stream is here. Called once, on a thread of the engine or of a waiter that helps: it may not block and may not wait
  // for work of any stream. One that throws std::bad_alloc has had no effect; the operation is finished with 207001 then.
  virtual void Start() = 0;
  // The stream no longer waits: it was aborted, or its limit passed. `started` tells whether Start was called; Finish has no
  // effect on the stream any more. May not block.
  virtual void Abandoned(bool started) = 0;
  // Finish counted, but at that very moment the stream was aborted or its limit passed: nobody makes use of the outcome.
  virtual void Wasted(int) {}
  // From the start on: its task's number in the stream.
  uint64_t sequence() const { return sequence_; }

 private:
  // The one task that names the operation.
  class Waited final : public Marker {
   public:
    explicit Waited(Operation& operation) : operation_(operation) {}
    void Begun(uint64_t sequence) override { operation_.Begin(sequence); }
    int Failed(bool, TaskFailure* failure) const override { return operation_.Explain(failure); }
    void TimedOut() override { timed_out_ = true; }
    void Reached() override { operation_.Leave(!timed_out_); }
    void Dropped() override { operation_.Leave(false); }

   private:
    Operation& operation_;
    bool timed_out_ = false;  // whoever has the queue
  };
  void Begin(uint64_t sequence);
  int Explain(TaskFailure* failure) const;
  // The stream has left, through the gate or not: gives up its reference, so the operation may be gone afterwards.
  void Leave(bool through_gate);

  Signal signal_;
  bool brief_ = false;
  uint64_t sequence_ = 0;
  LastingGate gate_;
  Waited waited_{*this};
  std::shared_ptr<Operation> held_by_stream_;
  std::atomic<bool> started_{false};
  mutable Mutex mutex_{LockRank::kOperation};
  bool finished_ RW_GUARDED_BY(mutex_) = false;
  bool left_ RW_GUARDED_BY(mutex_) = false;
  int code_ RW_GUARDED_BY(mutex_) = 0;
  std::string text_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
