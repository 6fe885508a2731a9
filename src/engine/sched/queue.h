// A stream on the CPU engine: a ring of tasks and one state word.
//
// Invariants, each with a stress test:
//  1. At most one owner. Ownership is taken by one compare-and-swap on state_ (kIdle or kQueued to kOwned) and given up by
//     one store. executed_ and the slots at and before it belong to the owner (while kBlocked: to whoever resumes).
//     Others may carry bytes of a volley, for the owner, who stays until they are done.
//  2. No lost work. Submit stores submitted_, then loads state_; an owner that gives up stores kIdle, then loads
//     submitted_. All four are sequentially consistent, so one of the two sees the other.
//  3. completed_ only grows, and it is stored after the bytes of the task (streaming kernels end with a fence; where work goes on
//     behind Start, it is finished first). executed_ may be ahead of it by tasks that move bytes, and by nothing else.
//     Where devices have points, the owner may have started some tasks from the head on already (ahead_, queue_ahead.cpp).
//  4. A blocked queue is parked in exactly one place, waits for exactly one host call, is halted, or its head is a replay
//     that is idle; whoever takes it out resumes it.
//  5. No lost wake-up of waiters. A sleeper lowers wake_at_, then loads completed_; the owner stores completed_, then
//     loads wake_at_. All sequentially consistent.
//  6. The ring restarts at slot 0 whenever a submitter finds that all he has submitted is complete and that its owner has given
//     up (idle_at_): many lightly used streams touch one page each. base_ changes only then, and is published by the store of
//     submitted_; the owner reads it only when it has seen a task behind it. idle_at_ is stored behind the owner's last look at a slot.
//  7. A queue has one link. Who makes it kQueued then sets `linked`, and links it where that was clear; who takes it out of a list
//     clears `linked`, then tries to own it. Both are exchanges: one that found it set is seen by the one who clears it.
//
// A submit to an idle queue needs what the last owner has written: state_, idle_at_ and the link are one cache line.
// While a burst runs, submitter and owner stay off each other's cache lines: each works with what it saw last of the
// other's numbers (room_up_to_, submitted_seen_) and looks again only when that is used up.
#pragma once

#include <atomic>
#include <deque>
#include <memory>

#include "base/prefetch.h"
#include "base/race_detector.h"
#include "engine/engine.h"
#include "engine/sched/replay.h"
#include "engine/sched/turnout.h"
#include "engine/sched/value_watch.h"
#include "engine/struck_task.h"
#include "engine/watcher.h"

namespace ropeway {
struct StateShape;
}

namespace ropeway::sched {

class Crew;
struct Workshop;

class LaneQueue final : public Queue, private ValueWaiter, private HostCall::Return {
 public:
  // rules/streams.md 2: 2048 entries, 35 of them reserved.
  static constexpr uint64_t kRing = 2048;
  static constexpr uint64_t kDepth = 2013;

  LaneQueue(Crew& crew, Workshop& shop);
  ~LaneQueue() override;

  void Open(const QueueOptions& options) override;
  void SetPriority(int priority) override { priority_.store(priority, std::memory_order_relaxed); }
  uint64_t NextSequence() override {
    const uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
    return FindsRoom(sequence) ? sequence : 0;
  }
  Submission Submit(Task& task) override;
  void Kick(const Task& task) override;
  void AwaitRoom() override;
  uint64_t submitted() const override { return submitted_.load(std::memory_order_acquire); }
  uint64_t completed() const override {
    const uint64_t completed = completed_.load(std::memory_order_acquire);
    race_detector::TakeOver(this);
    return completed;
  }
  void ExpectLook() const override {
    __builtin_prefetch(&submitted_);
    __builtin_prefetch(&completed_);
  }
  std::optional<Task> FirstPending() const override;
  WaitOutcome Wait(uint64_t sequence, Deadline deadline) override;
  void Poll() override;
  bool Abort() override;
  void Halt() override { halt_requested_.store(true, std::memory_order_seq_cst); }
  bool HeldUp() const override {
    const ParkingPlace* const place = place_.load(std::memory_order_acquire);
    return (place != nullptr && place != DelayGate()) || halted_.load(std::memory_order_acquire) || replay_.held_up();
  }

  // --- For the crew ---------------------------------------------------------------------------------------------------
  enum State : uint32_t { kIdle, kQueued, kOwned, kBlocked };
  State state() const { return static_cast<State>(state_.load(std::memory_order_seq_cst)); }
  // The host function that this queue waits for is the one that runs on the calling thread.
  bool InsideOwnCall() const override {
    return HostCall::running_here == static_cast<const HostCall::Return*>(this) || replay_.Waits(HostCall::running_here);
  }
  // From idle or queued to owned.
  bool TryOwn();
  // From idle to queued: the caller then hands the queue to the crew.
  bool TryQueue();
  // How much an owner runs before it gives the queue up.
  struct Share {
    uint64_t up_to = UINT64_MAX;               // until this task is complete
    const std::atomic<int>* rivals = nullptr;  // or for a fair share, when others are queued
    bool only_start = false;                   // what was started then is the next owner's to finish
    bool brief_too = false;                    // and waits behind it that are begun in a moment
  };
  // Runs tasks and gives ownership up: to idle when empty, to blocked at a gate or a host call, to queued (and back to
  // the crew) when the share is used up.
  void RunOwned(Share share);
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  // Asks for what an owner looks at first, which others have written.
  void ExpectOwner() const {
    PrefetchForWrite(&state_);
    PrefetchForWrite(&executed_);
    PrefetchForWrite(&completed_);
    __builtin_prefetch(&submitted_);
    __builtin_prefetch(ring_);
  }
  // Sleeps until completed() >= sequence, the deadline, or an abort: one round, may return early.
  void SleepUntil(uint64_t sequence, Deadline deadline);
  // Changes with every abort.
  uint32_t aborts() const { return aborts_.load(std::memory_order_acquire); }
  // The time limit of the wait that is task `sequence` has passed.
  void TimeOut(uint64_t sequence);
  bool Reached(uint64_t sequence) const {
    if (completed_.load(std::memory_order_seq_cst) < sequence) return false;
    race_detector::TakeOver(this);
    return true;
  }

  // --- For the replay at the head -------------------------------------------------------------------------------------
  Workshop& shop() { return shop_; }
  // Starts a task that moves bytes; a failure is reported.
  void StartBytes(const Task& task, const Backend::Behind& behind, const Moment& started);
  // What was started is done when this returns; 0, or the code of a failure.
  int FinishBytes();
  // What is left of the head shall be dropped, or the queue shall stand still.
  bool WantsOut() const {
    return executed_ < drop_up_to_.load(std::memory_order_acquire) || halt_requested_.load(std::memory_order_relaxed);
  }
  void Block() { state_.store(kBlocked, std::memory_order_seq_cst); }
  void Unblocked() { state_.store(kOwned, std::memory_order_seq_cst); }
  // Somebody who has the blocked queue sends it back to its head.
  void GoOnWithHead();
  // For a wait with a limit; Prepare before it is parked, and one of the others when it is known whether it has to wait. Not prepared:
  // the wait fails.
  bool PrepareTimer(const Task& task);
  void StartTimer(Deadline deadline);
  void ForgoTimer();
  void ReportFailure(const Task& task, int code, const char* text);
  void Report(const Task& task, uint64_t sequence, int code, const char* text);
  // Answers the code.
  int ReportTimeout(const Task& task);
  // A function that there was no memory to hand over.
  void ReportLost(const Task& task);
  // How a function or kernel that has returned ended, which the stream hears of when it did so badly; 0 for other tasks.
  int JudgeCall(const Task& task, HostCall::Return* on_return);
  // The head's number in the stream.
  uint64_t head_number() const { return executed_ + 1; }
  // For a watcher: when the head, or a task of its graph, was started, and that it is over.
  Moment TellStarted(const Task& task) {
    Watcher* const watcher = ActiveWatcher();
    return watcher == nullptr ? Moment() : watcher->Started(SightOf(task, executed_ + 1));
  }
  void TellFinished(const Task& task, const RunSight& run) {
    if (Watcher* watcher = ActiveWatcher()) [[unlikely]]
      watcher->Finished(SightOf(task, executed_ + 1), run);
  }
  // The same of a volley, whose tasks begin as it takes them up: not before they were submitted, nor before what they need is complete.
  void NoteBegun(size_t index, const Moment& moment);
  Moment BegunAt(size_t index) const { return begun_ != nullptr ? begun_[index % kMostBegun] : head_started_; }

 private:
  friend struct ropeway::StateShape;  // api/state_table.cpp
  TaskSight SightOf(const Task& task, uint64_t sequence) const {
    return {options_.stream_id, options_.device, sequence, &task, replay_.active(), replay_.branch()};
  }
  // Of a task that is not done when it has been started: kept until it is.
  void NoteStarted(const Moment& started, int code);
  void TellSettled(uint64_t done, int code);
  class Feed;
  Submission Put(Task& task);
  // The owner's line is looked at only when what was last seen of it is used up.
  bool FindsRoom(uint64_t sequence) {
    if (sequence <= room_up_to_) [[likely]]
      return true;
    room_up_to_ = completed_.load(std::memory_order_acquire) + kDepth;
    return sequence <= room_up_to_;
  }
  [[gnu::cold]] Submission HandOverAndPut(Task& task);
  [[gnu::noinline]] Submission TurnToAndPut(Task& task);
  Task& At(uint64_t sequence_before) { return ring_[(sequence_before - head_base_) % kRing]; }
  Task& Head() { return At(executed_); }
  // Finishes what was started and says which tasks are complete now. False when there was none.
  bool Settle();
  // Looks for tasks behind the ones that the owner knows of; false when there are none.
  bool SeeMore();
  bool GoIdle();  // true: somebody else cares for the queue, or it is empty
  using Outcome = Replay::Outcome;
  // kBlocked: the queue no longer belongs to the caller. kPaused: the head is not done, but something else comes first.
  Outcome RunHead(const Share& share);
  Backend::Behind LookAhead();
  // Runs the head and what comes behind it side by side; false when it is none of a volley.
  bool RunVolley(const Share& share);
  Outcome RunReplay(const Task& task);
  void EndBytes(const Task& task);
  bool RunAwait(const Task& task);
  int EndAwait(const Task& task);
  bool RunAwaitValue(const Task& task);
  bool RunCall(const Task& task);
  // True: the queue is blocked until an abort; false: the request was withdrawn meanwhile, and the queue is still ours.
  bool StayHalted();
  // False: the head has not come back from where it is yet, and the queue is blocked.
  bool DropHead();
  void Advance();
  bool MayTellLater(const Backend::Behind& behind) const;
  void Publish();

  // --- Ahead of what is told: queue_ahead.cpp ------------------------------------------------------------------------------
  // Before a task that is not started on the line comes to its turn.
  void SettleBefore(const Task& task, const Share& share);
  void SettleBeforeMark(const Share& share);
  void StayAtWait(const Gate& gate, const Share& share);
  // Starts what it can behind what was started, as long as that begins with a mark or a wait.
  void StartAhead(const Share& share);
  bool SeesMoreAhead();
  bool StartNextAhead();
  bool MarkAhead(const Task& mark);
  bool FollowAhead(const Task& wait);
  void StartBytesAhead(const Task& task);
  bool EndStarted();
  // The head is behind us.
  void PassHead();
  void Foretold() override;
  // What was started is done, with this code.
  void EndOfBytes(int code, const char* text);
  void AwaitMoreRoom(uint64_t wanted) const;
  // The head that blocked is done, with `code`: back to the crew.
  void Resume(int code);
  void PassGate(int code);
  void Opened() override;
  void Returned() override;
  bool Unblock();

  // Constant between Open and the next Open.
  Crew& crew_;
  const bool stepped_;  // the crew wants to hear of every submit
  Workshop& shop_;
  const bool at_once_;  // a task that moves bytes is done when it has been started
  const bool has_points_;
  std::unique_ptr<Backend::Line> line_;
  QueueOptions options_;
  struct FreeMemory {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, FreeMemory> ring_memory_;  // pages appear when a burst first reaches them
  Task* const ring_;                               // in it
  Turnout& turnout_;
  std::atomic<int> priority_{0};

  // The submitters' line.
  alignas(64) std::atomic<uint64_t> submitted_{0};
  uint64_t base_ = 0;             // the task behind this one is in slot 0
  uint64_t room_up_to_ = kDepth;  // the last task that has room, by what was last seen of completed_

  // Changes hands seldom: once per burst, not once per task.
  alignas(64) std::atomic<uint32_t> state_{kIdle};
  std::atomic<uint64_t> idle_at_{0};  // the last complete task when the queue last became idle

 public:
  // The link of the crew's lists (invariant 7). While it is in a list, next_queued is guarded by that one's lock.
  std::atomic<bool> linked{false};
  LaneQueue* next_queued = nullptr;

 private:
  // The owner's line.
  alignas(64) uint64_t executed_ = 0;  // and started ones; completed_ follows when they are done
  uint64_t submitted_seen_ = 0;
  uint64_t head_base_ = 0;  // base_ as it was for the tasks that were seen
  VolleySearch volleys_;
  bool line_busy_ = false;  // something was started that may not be done
  std::atomic<bool> halt_requested_{false};
  std::atomic<bool> halted_{false};            // blocked because of it; whoever clears it owns the queue
  std::atomic<ParkingPlace*> place_{nullptr};  // where the head is parked
  // What many queues never use.
  std::atomic<HostCallSink*> sink_{nullptr};  // who runs the head
  Moment head_started_;                       // as the watcher has it
  // Of tasks that were started and are not complete, for a watcher; made when one is there.
  struct StartedNote {
    Moment started;
    int code;
  };
  std::unique_ptr<StartedNote[]> notes_;
  std::unique_ptr<Moment[]> begun_;  // by their place in the volley
  // Tasks from the head on that were started before their turn, and the points of the marks among them.
  uint64_t ahead_ = 0;
  std::deque<std::shared_ptr<DevicePoint>> points_;

  // The waiters' line.
  alignas(64) std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> wake_at_{UINT64_MAX};
  std::atomic<uint32_t> progress_{0};  // futex word
  std::atomic<uint32_t> aborts_{0};
  std::atomic<uint64_t> drop_up_to_{0};  // tasks up to this one are dropped instead of run

  Replay replay_{*this};
};

}  // namespace ropeway::sched
