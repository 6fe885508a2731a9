// Schedule `fast`: a few worker threads take runnable queues, own one at a time, and sleep when there is nothing to do.
// A thread that waits helps. docs/lanes.md tells the whole story.
//
// No lost wake-up: a submitter pushes to the run list, then looks at lingering_ and sleeping_; a lane leaves lingering_
// and enters sleeping_, then looks at the run list, then sleeps on wake_word_ as it was before that look. All accesses
// are sequentially consistent, so one of the two sees the other.
#pragma once

#include <sched.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

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
  void StartLanes();
  void RunLane(int number);
  void KeepToNode() const;
  // Looks for something to do; false when there was nothing.
  bool JoinSharedWork();
  bool DoSomething();
  bool LingerForWork();
  void Sleep();
  bool SomethingToDo() const;
  void WakeOne();
  void Wake(size_t hands);
  // The submitter runs a small task itself when every lane sleeps, which costs less than the wake-up, or when the queue was just waited
  // for, which costs less than handing it to another core.
  bool RunInline(LaneQueue& queue, const Task& task);
  static bool RunOne(LaneQueue& queue);
  // The submitter of a batch starts it where starting is all there is to do, and wakes somebody to see it through while it runs.
  bool StartInline(LaneQueue& queue, const Task& task);

  WorkSharer& sharer_;
  const std::optional<cpu_set_t> node_;  // the cores to keep to, where the machine has more of them than one node's
  const bool runs_inline_;               // small work of a submitter; only where it is done at once
  int count_;                            // set before there is a queue
  RunList run_list_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};

  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<int> lingering_{0};
  std::atomic<uint32_t> wake_word_{0};
  std::atomic<int> wakes_under_way_{0};

  // What inline runs have cost since the current burst of submissions began.
  alignas(64) std::atomic<uint64_t> burst_ticks_{0};
  std::atomic<uint64_t> last_inline_{0};
  const uint64_t ticks_per_us_;
};

}  // namespace ropeway::sched
