// A transfer that is under way. It has a part in the streams and a part on the network, or one of them; it is complete when all parts are,
// and failed when one is or when somebody gives it up. Any thread.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "hccl/transport/window.h"

namespace ropeway::transfer {

class Request {
 public:
  enum class State { kWaiting, kCompleted, kFailed };

  explicit Request(unsigned parts) : parts_(parts) {}
  // A part is over; `failure` is empty when it went well.
  void Done(const std::string& failure) {
    LockGuard lock(mutex_);
    if (state_ != State::kWaiting) return;
    if (!failure.empty()) return End(State::kFailed, failure);
    if (--parts_ == 0) End(State::kCompleted, "");
  }
  // Whatever is still to come has no effect: nobody touches local memory that is not the runtime's any more.
  void GiveUp(const std::string& why) {
    lease_->Close();
    LockGuard lock(mutex_);
    if (state_ == State::kWaiting) End(State::kFailed, why);
  }

  State state() const {
    LockGuard lock(mutex_);
    return state_;
  }
  std::string failure() const {
    LockGuard lock(mutex_);
    return failure_;
  }
  State WaitUntil(Deadline deadline) {
    LockGuard lock(mutex_);
    changed_.wait_until(mutex_, deadline.at(), [this]() RW_REQUIRES(mutex_) { return state_ != State::kWaiting; });
    return state_;
  }
  const std::shared_ptr<comm::Lease>& lease() const { return lease_; }

 private:
  void End(State state, const std::string& failure) RW_REQUIRES(mutex_) {
    state_ = state;
    failure_ = failure;
    changed_.notify_all();
  }

  const std::shared_ptr<comm::Lease> lease_ = std::make_shared<comm::Lease>();
  mutable Mutex mutex_{LockRank::kHixlRequest};
  Condition changed_;
  unsigned parts_ RW_GUARDED_BY(mutex_);
  State state_ RW_GUARDED_BY(mutex_) = State::kWaiting;
  std::string failure_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway::transfer
