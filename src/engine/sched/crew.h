// Who runs queues. Two crews exist: Lanes (schedule `fast`: worker threads, helping waiters) and Stepper (the schedules
// `earliest`, `latest` and `random`: every task runs inside some API call, in an order that the policy decides).
#pragma once

#include "engine/sched/queue.h"
#include "engine/sched/wait_timer.h"

namespace ropeway::sched {

class Crew {
 public:
  explicit Crew(bool every_submit) : wants_every_submit(every_submit) {}
  virtual ~Crew() = default;
  // Whether Submitted is called for every task, or only when the queue was found idle.
  const bool wants_every_submit;
  // There is one more queue. May throw; nothing of what follows does.
  virtual void ExpectOneMore() {}
  // A task was submitted to `queue`.
  virtual void Submitted(LaneQueue& queue, const Task& task) = 0;
  // The queue has become runnable (state kQueued).
  virtual void Ready(LaneQueue& queue) = 0;
  // Blocks until task `sequence` is complete, helping. `eagerness`: how many more tasks a helper may run on the way.
  virtual WaitOutcome Wait(LaneQueue& queue, uint64_t sequence, Deadline deadline, uint64_t eagerness) = 0;
  // Somebody asked for the state of `queue` without waiting.
  virtual void Polled(LaneQueue& queue) = 0;
  // Some queue was aborted: those who wait for it look again.
  virtual void Aborted() {}
  // Ends the crew's threads; see Engine::Stop.
  virtual void Stop() = 0;

  // What the next one who makes a queue ready will write, as far as is known: good for asking for it.
  std::atomic<const void*> push_line{this};
  WaitTimer timer;
};

}  // namespace ropeway::sched
