// A graph that is being replayed as the head of a queue. Its branches take turns on the queue's owner; a branch that
// has to wait for something outside (a gate, a value, a host function) is parked by itself, and the queue is blocked only
// when no branch can go on.
//
// Invariants:
//  1. Everything but the atomics belongs to the owner of the queue.
//  2. A branch that is outside is parked in exactly one place or waits for exactly one host call; whoever takes it out pushes it to
//     woken_, once, and touches it no more.
//  3. No lost wake-up: the owner stores idle_ and then looks whether woken_ is still empty; a waker pushes to woken_ and then exchanges
//     idle_. All sequentially consistent. Whoever turns idle_ from true to false has the blocked queue: from the store of idle_ on, the
//     owner of before touches woken_ and idle_ only.
//  4. A Replay is never freed and its branches stay where they are, so a late timer or waker finds them.
//  5. A branch of the owner's is in exactly one place: it is being run, in ready_, in the list of the edge that it waits for, above a
//     body that runs, or done. So a step costs the same however many branches there are.
#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "base/fifo_list.h"
#include "base/mutex.h"
#include "engine/gate.h"
#include "engine/host_call.h"
#include "engine/sched/value_watch.h"
#include "engine/task.h"
#include "engine/volley.h"
#include "engine/watcher.h"

namespace ropeway::sched {

class LaneQueue;

class Replay {
 public:
  explicit Replay(LaneQueue& queue) : queue_(queue) {}

  bool active() const { return task_ != nullptr; }
  // Whose task runs, for those who watch.
  uint32_t branch() const { return running_; }
  // False: there is no memory for it.
  bool Begin(const Task& replay_task);
  void End();

  enum class Outcome { kDone, kBlocked, kPaused };
  // Runs branches until all are done, none can go on (the queue is blocked then), or the queue wants something else.
  Outcome Run();
  // Takes back what waits outside. False: the queue is blocked until something that is under way comes back.
  bool Cancel();

  // True: the caller has the blocked queue.
  bool Claim() { return idle_.exchange(false, std::memory_order_seq_cst); }
  // No branch can go on until somebody else acts. A host function that runs comes back by itself.
  bool held_up() const { return idle_.load(std::memory_order_acquire) && calls_.load(std::memory_order_acquire) == 0; }
  // Ends waits whose limit has passed; on the timer's thread.
  void TimeOut(int64_t now_ns);
  bool Waits(const HostCall::Return* call) const;

 private:
  struct Branch final : ValueWaiter, HostCall::Return {
    enum class State : uint8_t { kReady, kAtEdge, kOutside, kAboveBody, kDone };

    Branch(Replay& owner, uint32_t number) : replay(owner), index(number) {}
    void Opened() override { replay.Wake(*this); }
    void Returned() override { replay.Wake(*this); }

    Replay& replay;
    const uint32_t index;
    const std::vector<Task>* tasks = nullptr;
    size_t next = 0;
    uint32_t body = kNoBody;  // that it is part of
    VolleySearch volleys;
    Moment started;  // its task that may stand still, as the watcher has it
    State state = State::kDone;
    std::atomic<ParkingPlace*> place{nullptr};
    std::atomic<HostCallSink*> sink{nullptr};
    std::atomic<int64_t> deadline_ns{INT64_MAX};
    std::atomic<bool> timed_out{false};
    std::atomic<bool> taken_out{false};  // by the timer, from a wait whose limit has not passed: it goes back there
    Branch* next_woken = nullptr;        // in woken_
    Branch* next_in_list = nullptr;      // in ready_, or of those who wait for the same edge
    bool came_through = false;           // was in woken_
  };
  using BranchList = FifoList<Branch, &Branch::next_in_list>;
  struct Edge {
    bool signalled = false;
    BranchList waiting;
  };
  static constexpr uint32_t kNoBody = UINT32_MAX;
  struct Body {
    Branch* above = nullptr;  // whose task runs it
    uint32_t left = 0;        // branches that are not done
  };

  static bool ReachesOutside(TaskKind kind);
  bool Grow(const TaskGraph& graph);
  // Looks at those who were woken; the ones that can go on are ready then.
  void TakeWoken();
  void ComeBackWoken();
  void Step(Branch& branch);
  void Advance(Branch& branch, size_t tasks = 1);
  // The graph has its turn: those start that do so by themselves.
  void StartHeads();
  void StartAt(Branch& branch, size_t index);
  void Leave(Branch& branch);
  bool Over() const;
  // --- Tasks that decide what runs next ---------------------------------------------------------------------------------
  // False: the memory is gone; that has been reported, and the branch goes on behind the task.
  bool MayRead(Branch& branch, const Task& task);
  uint64_t Read(const void* address, size_t bytes);
  // A branch that may be started; null: it may not, as has been reported.
  Branch* Idle(const Branch& branch, uint32_t target);
  void Activate(Branch& branch, const Task& task);
  void Switch(Branch& branch, const Task& task);
  void Jump(Branch& branch, const Task& task);
  void RunBody(Branch& branch, const Task& task);
  void EndControl(Branch& branch, int code = 0);
  void FailControl(Branch& branch, const char* text);
  void Signal(uint32_t edge);
  void AwaitSignal(Branch& branch, Edge& edge);
  void TellOver(const Branch& branch, int code = 0);
  void AwaitTurn(Branch& branch, Gate* turn);
  void AwaitGate(Branch& branch, Gate* gate, int64_t timeout_ns);
  void Park(Branch& branch, Gate* gate);
  void AwaitValue(Branch& branch, const Task& task);
  void CallHost(Branch& branch, const Task& task);
  void RunBytes(Task task, const Task* next);
  class Feed;
  // How many tasks of the branch ran side by side; 0: the next is none of a volley.
  size_t RunVolley(Branch& branch);
  void TellBound(uint32_t binding);
  // The wait of a branch is over, one way or the other.
  void ComeBack(Branch& branch, bool dropped);
  void Wake(Branch& branch);
  // True: nobody had anything new, and the queue is blocked.
  bool GoIdle();

  LaneQueue& queue_;
  const Task* task_ = nullptr;
  bool entering_ = false;  // the graph's turn is waited for, in the name of the first branch
  bool has_turn_ = false;
  bool starts_ = false;   // the turn has come, and nobody has started yet
  bool at_mark_ = false;  // a kFinish was reached
  uint32_t running_ = 0;  // branch
  size_t used_ = 0;       // branches of this graph
  std::deque<Branch> branches_;
  mutable Mutex growth_{LockRank::kReplayGrowth};  // of branches_, against late timers and calls from host functions
  size_t left_ = 0;                                // branches that are not done
  BranchList ready_;
  std::vector<Edge> edges_;
  std::vector<Body> bodies_;
  std::atomic<bool> idle_{false};
  std::atomic<Branch*> woken_{nullptr};  // a stack
  std::atomic<int> calls_{0};            // of host functions that branches wait for
};

}  // namespace ropeway::sched
