// Schedule `fast`: a few worker threads take runnable queues, own one at a time, and sleep when there is nothing to do.
// A thread that waits helps. docs/lanes.md tells the whole story.
//
// Every lane has a list of queues of its own. Others push to one lane as long as that is awake and has little to do, then to the
// next: small work keeps few lanes busy, whose lines are mostly in the pusher's cache. A lane without work looks at its own list; one
// of them at a time, the scout, looks at all, and takes what its lane leaves waiting.
//
// No queue waits while a lane lingers or sleeps, and no wake-up is lost. Of a list that is not empty, one of these is true:
//   - its lane lingers, or some lane does (lingering_): it sees the list;
//   - a lane is on its way (coming_);
//   - every lane is at work (nobody is in asleep_);
//   - somebody who changed that is about to look, and to call a lane.
// Who pushes to an empty list then looks at these words. Who makes one of them untrue then looks at the lists: a lane that has stopped
// lingering, one that has cleared coming_ and one that has entered asleep_ look at all of them, and call another where something is left.
// All these accesses are sequentially consistent, so one of the two sees the other.
//
// A lane in asleep_ is called by whoever takes it out of there, and by nobody else: it waits for that call.
#pragma once

#include <sched.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "base/hot_tls.h"
#include "engine/sched/crew.h"
#include "engine/sched/run_list.h"
#include "engine/sched/workshop.h"

namespace ropeway::sched {

class Lanes final : public Crew {
 public:
  Lanes(Workshop& shop, int count);
  ~Lanes() override;

  void Submitted(LaneQueue& queue, const Task& task) override;
  void Ready(LaneQueue& queue) override;
  WaitOutcome Wait(LaneQueue& queue, uint64_t sequence, Deadline deadline, uint64_t eagerness) override;
  void Polled(LaneQueue&) override {}
  void Stop() override;

 private:
  // Pushers and the lane share the first line; the usual priority of its list is on it, too.
  struct alignas(64) Lane {
    std::atomic<bool> lingering{false};
    RunList list;
    alignas(64) std::atomic<uint32_t> call{0};  // futex word, a Call
    const Lanes* crew = nullptr;
    uint64_t bit = 0;  // in asleep_
  };
  enum Call : uint32_t { kNoCall, kToHelp, kToLookAround };
  // The lane that the calling thread is; null on any other.
  static thread_local Lane* t_lane RW_HOT_TLS;
  // The queue that the calling thread has waited for, if it has not submitted to an idle one since; for comparisons only.
  static constinit thread_local const LaneQueue* t_waited_for RW_HOT_TLS;

  void StartLanes();
  void RunLane(int number);
  void KeepToNode() const;
  // Looks for something to do; false when there was nothing.
  bool JoinSharedWork();
  bool DoSomething(Lane& lane);
  void Run(Lane& lane, LaneQueue& queue);
  // Where to take something from, as a rule its own list; null when there was nothing.
  Lane* LingerForWork(Lane& lane);
  struct Sighting;
  Lane* Overdue(const Lane& scout, Sighting& seen);
  void Sleep(Lane& lane);
  // Somebody may have counted on this lane: it takes a queue from `there`, and calls another lane for what is left.
  void LookAround(Lane& lane, Lane* there);
  Lane* AnyListed();
  // The list to push to.
  Lane& PlaceForOneMore();
  // Sees to it that somebody comes for what is listed.
  void CallOne();
  // Wakes a lane, if one is asleep.
  bool Wake(Call call);
  void WakeHelpers(size_t hands);
  // The submitter runs a small task itself when every lane sleeps, which costs less than the wake-up, or when the queue was just waited
  // for, which costs less than handing it to another core.
  bool RunInline(LaneQueue& queue, const Task& task);
  static bool RunOne(LaneQueue& queue);
  // The submitter starts a task where starting is all there is to do, and wakes somebody to see it through while it runs.
  bool StartInline(LaneQueue& queue, const Task& task);

  WorkSharer& sharer_;
  const std::optional<cpu_set_t> node_;  // the cores to keep to, where the machine has more of them than one node's
  const bool runs_inline_;               // small work of a submitter; only where it is done at once
  const uint64_t ticks_per_us_;
  std::vector<Lane> lanes_;
  std::vector<std::thread> threads_;
  uint64_t all_ = 0;  // lanes that were started, a bit for each; set before there is a queue
  std::atomic<bool> stopping_{false};

  // Those who submit look at these, which seldom change.
  alignas(64) std::atomic<uint64_t> asleep_{0};  // a bit for each lane
  std::atomic<uint32_t> fill_{0};                // the lane that is pushed to

  // Lanes that come and go write these.
  alignas(64) std::atomic<int> lingering_{0};
  std::atomic<bool> coming_{false};    // a lane was called to look around and has not begun
  std::atomic<bool> scouting_{false};  // one of the lingering lanes looks at all lists

  // What inline runs have cost since the current burst of submissions began.
  alignas(64) std::atomic<uint64_t> burst_ticks_{0};
  std::atomic<uint64_t> last_inline_{0};
};

}  // namespace ropeway::sched
