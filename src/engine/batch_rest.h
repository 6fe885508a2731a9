// What is still to come of a batch that was handed over before it was whole, so that an engine can begin with what is there. One collects
// it: whoever runs the batch, or the submitter behind its call; the other waits. So the one who runs it gets all pieces, and the submitter
// knows when nobody looks at the caller's arrays any more.
#pragma once

#include <sched.h>

#include <atomic>

namespace ropeway {

class BatchRest {
 public:
  virtual ~BatchRest() = default;

  // Whether the rest is the caller's to collect, by Next until that says false. Else all is there when this returns.
  bool Take() {
    State open = kOpen;
    if (state_.compare_exchange_strong(open, kTaken, std::memory_order_acq_rel)) return true;
    while (state_.load(std::memory_order_acquire) != kDone) sched_yield();  // some microseconds, as a rule
    return false;
  }
  // Adds the next pieces to the batch; false when these were the last.
  bool Next() {
    if (Collect()) return true;
    state_.store(kDone, std::memory_order_release);
    return false;
  }
  // By the submitter: all is there when this returns, or the batch is gone.
  void Complete() {
    if (!Take()) return;
    while (Next()) {
    }
  }
  // The batch is gone: nobody shall collect any more.
  void Forget() {
    if (Take()) state_.store(kDone, std::memory_order_release);
  }

 private:
  enum State { kOpen, kTaken, kDone };

  // Some pieces, no more than the batch has room for; false behind the last.
  virtual bool Collect() noexcept = 0;

  std::atomic<State> state_{kOpen};
};

}  // namespace ropeway
