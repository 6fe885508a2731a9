#include "stream/count_notify.h"

#include <algorithm>
#include <atomic>

#include "base/no_destroy.h"

namespace ropeway {
namespace {

std::atomic<int> g_next_count_notify_id{1};

}  // namespace

class Counter::Changing final : public Operation {
 public:
  Changing(std::shared_ptr<Counter> counter, CountChange change, uint32_t value)
      : Operation({counter.get(), 0, Signal::Role::kSets, false, false}), counter_(std::move(counter)), change_(change), value_(value) {}

 private:
  void Start() override {
    counter_->Change(change_, value_);
    Finish(0, "");
  }
  void Abandoned(bool) override {}

  const std::shared_ptr<Counter> counter_;
  const CountChange change_;
  const uint32_t value_;
};

class Counter::Waiting final : public Operation {
 public:
  Waiting(std::shared_ptr<Counter> counter, CountWait wait)
      : Operation({counter.get(), 0, Signal::Role::kAwaits, false, false}), counter_(std::move(counter)), wait_(wait) {}
  const CountWait& wait() const { return wait_; }

 private:
  void Start() override {
    place_.front() = std::static_pointer_cast<Waiting>(shared_from_this());
    counter_->Await(place_);
  }
  void Abandoned(bool) override { counter_->GiveUp(*this); }

  const std::shared_ptr<Counter> counter_;
  const CountWait wait_;
  Waits place_{nullptr};
};

Status Counter::ChangeOn(StreamRef stream, const FailureScope* current, CountChange change, uint32_t value, const char* call) {
  return std::make_shared<Changing>(shared_from_this(), change, value)->LaunchOn(stream, current, 0, call);
}

Status Counter::AwaitOn(StreamRef stream, const FailureScope* current, CountWait wait, int64_t timeout_ns, const char* call) {
  return std::make_shared<Waiting>(shared_from_this(), wait)->LaunchOn(stream, current, timeout_ns, call);
}

bool Counter::Holds(const CountWait& wait) const {
  switch (wait.test) {
    case CountTest::kLess: return value_ < wait.value;
    case CountTest::kEqual: return value_ == wait.value;
    case CountTest::kMore: return value_ > wait.value;
    case CountTest::kAtLeast: return value_ >= wait.value;
    case CountTest::kAllBits: return (value_ & wait.value) == wait.value;
  }
  return false;
}

// Each release may clear the counter, which may release one that was passed over: look again from the front.
Counter::Waits Counter::TakeReleased() {
  Waits released;
  for (;;) {
    auto next = std::find_if(waiting_.begin(), waiting_.end(), [this](const auto& one) RW_REQUIRES(mutex_) { return Holds(one->wait()); });
    if (next == waiting_.end()) return released;
    if ((*next)->wait().clears) value_ = 0;
    released.splice(released.end(), waiting_, next);
  }
}

void Counter::Change(CountChange change, uint32_t value) {
  Waits released;
  {
    LockGuard lock(mutex_);
    if (change == CountChange::kSet) value_ = value;
    if (change == CountChange::kAdd) value_ += value;
    if (change == CountChange::kOr) value_ |= value;
    if (change == CountChange::kAnd) value_ &= value;
    released = TakeReleased();
  }
  for (const auto& one : released) one->Finish(0, "");
}

void Counter::Await(Waits& waiting) {
  Waits released;
  {
    LockGuard lock(mutex_);
    waiting_.splice(waiting_.end(), waiting);
    released = TakeReleased();
  }
  for (const auto& one : released) one->Finish(0, "");
}

void Counter::GiveUp(const Waiting& waiting) {
  std::shared_ptr<Waiting> given_up;  // released without the lock
  LockGuard lock(mutex_);
  auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.get() == &waiting; });
  if (found == waiting_.end()) return;
  given_up = std::move(*found);
  waiting_.erase(found);
}

// --- CountNotify --------------------------------------------------------------------------------------------------------

CountNotifySlab& CountNotifies() {
  static constinit NoDestroy<CountNotifySlab> slab;
  return slab.get();
}

CountNotify* CountNotify::Create(int device) {
  auto counter = std::make_shared<Counter>();
  CountNotify* notify = CountNotifies().Take();
  if (notify == nullptr) return nullptr;
  notify->id_ = g_next_count_notify_id.fetch_add(1, std::memory_order_relaxed) & 0xFFFF;
  notify->device_ = device;
  notify->counter_ = std::move(counter);
  CountNotifies().Publish(notify);
  return notify;
}

bool CountNotify::Destroy(void* handle) {
  CountNotifyHold notify(CountNotifies(), CountNotifies().Acquire(handle));
  if (!notify || !CountNotifies().Retire(notify.get(), notify->generation())) return false;
  CountNotifies().Release(notify.get());
  return true;
}

}  // namespace ropeway
