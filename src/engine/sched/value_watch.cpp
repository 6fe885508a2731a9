#include "engine/sched/value_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/own_thread.h"
#include "engine/task_ranges.h"

namespace ropeway::sched {
namespace {

constexpr std::chrono::microseconds kFirstPause(50);
constexpr std::chrono::microseconds kLongestPause(2000);

}  // namespace

// --- Lists --------------------------------------------------------------------------------------------------------------

void ValueWatch::List::Add(ValueWaiter* waiter, Links ValueWaiter::*links) {
  waiter->*links = {last, nullptr};
  (last != nullptr ? (last->*links).next : first) = waiter;
  last = waiter;
}

void ValueWatch::List::Remove(ValueWaiter* waiter, Links ValueWaiter::*links) {
  const auto [before, next] = waiter->*links;
  (before != nullptr ? (before->*links).next : first) = next;
  (next != nullptr ? (next->*links).before : last) = before;
}

void ValueWatch::Hang(ValueWaiter* waiter) {
  Bucket& bucket = BucketOf(GrainOf(waiter->address_));
  bucket.waiters.Add(waiter, &ValueWaiter::in_bucket_);
  bucket.used.store(true, std::memory_order_seq_cst);
  all_.Add(waiter, &ValueWaiter::in_all_);
  waiter->parked_in_ = this;
  if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  waiting_.fetch_add(1, std::memory_order_seq_cst);
}

void ValueWatch::TakeOut(ValueWaiter* waiter) {
  Bucket& bucket = BucketOf(GrainOf(waiter->address_));
  bucket.waiters.Remove(waiter, &ValueWaiter::in_bucket_);
  bucket.used.store(bucket.waiters.first != nullptr, std::memory_order_seq_cst);
  all_.Remove(waiter, &ValueWaiter::in_all_);
  waiter->parked_in_ = nullptr;
  waiting_.fetch_sub(1, std::memory_order_seq_cst);
}

// --- Parking ------------------------------------------------------------------------------------------------------------

bool ValueWatch::Satisfied(const ValueWaiter& waiter) const {
  return Holds(waiter.test_, backend_.LoadWord(waiter.address_), waiter.value_) && !volleys_.AnyOpen();
}

bool ValueWatch::PassOrPark(ValueWaiter* waiter, const void* address, uint64_t value, ValueTest test) {
  waiter->address_ = address;
  waiter->value_ = value;
  waiter->test_ = test;
  if (Satisfied(*waiter)) return true;
  LockGuard lock(mutex_);
  // Announced first, looked at again afterwards: a change in between is seen here or by the one who made it.
  Hang(waiter);
  if (Satisfied(*waiter)) {
    TakeOut(waiter);
    return true;
  }
  fresh_ = true;
  if (resting_) changed_.notify_one();  // else it looks soon anyway, and waking it would cost more than the rest of this
  return false;
}

bool ValueWatch::Unpark(Waiter* parked) {
  auto* waiter = static_cast<ValueWaiter*>(parked);
  LockGuard lock(mutex_);
  if (waiter->parked_in_ != this) return false;
  TakeOut(waiter);
  return true;
}

// --- Looking ------------------------------------------------------------------------------------------------------------

void ValueWatch::Look(const Task* task) {
  // Where a late copy went was known to those who ran it.
  if (task == nullptr || task->kind == TaskKind::kCopyByDesc || task->kind == TaskKind::kCopyByCells) return LookAtAll();
  ForEachRange(*task, [this](const TaskRange& range) {
    if (range.written) LookAt(range.address, range.extent);
    return true;
  });
}

void ValueWatch::LookAt(const void* address, size_t size) {
  if (size == 0) return;
  // A word that begins in front of the range may reach into it.
  const char* const begin = static_cast<const char*>(address) - (sizeof(uint64_t) - 1);
  const size_t first = GrainOf(begin);
  const size_t last = GrainOf(static_cast<const char*>(address) + size - 1);
  if (last - first >= std::min(kBuckets, waiting_.load(std::memory_order_relaxed) + 4)) return LookAtAll();
  List released;
  for (size_t grain = first; grain <= last; ++grain) {
    Bucket& bucket = BucketOf(grain);
    if (!bucket.used.load(std::memory_order_seq_cst)) continue;
    LockGuard lock(mutex_);
    for (ValueWaiter* waiter = bucket.waiters.first; waiter != nullptr;) {
      ValueWaiter* const next = waiter->in_bucket_.next;
      if (GrainOf(waiter->address_) == grain) TakeIfSatisfied(waiter, &released);
      waiter = next;
    }
  }
  SendOn(released);
}

void ValueWatch::LookAtAll() {
  List released;
  {
    LockGuard lock(mutex_);
    for (ValueWaiter* waiter = all_.first; waiter != nullptr;) {
      ValueWaiter* const next = waiter->in_all_.next;
      TakeIfSatisfied(waiter, &released);
      waiter = next;
    }
  }
  SendOn(released);
}

void ValueWatch::TakeIfSatisfied(ValueWaiter* waiter, List* released) {
  if (!Satisfied(*waiter)) return;
  TakeOut(waiter);
  released->Add(waiter, &ValueWaiter::in_all_);
}

// One that was sent on may park again before the loop comes round: its link is read first.
void ValueWatch::SendOn(const List& released) {
  for (ValueWaiter* waiter = released.first; waiter != nullptr;) {
    ValueWaiter* const next = waiter->in_all_.next;
    waiter->Opened();
    waiter = next;
  }
}

void ValueWatch::Run() {
  const OwnThread self("rw-values");
  auto pause = kFirstPause;
  LockGuard lock(mutex_);
  while (!stop_) {
    if (all_.first == nullptr) {
      resting_ = true;
      changed_.wait(mutex_);
      resting_ = false;
      continue;
    }
    pause = fresh_ ? kFirstPause : std::min(2 * pause, kLongestPause);
    fresh_ = false;
    changed_.wait_until(mutex_, std::chrono::steady_clock::now() + pause, [this]() RW_REQUIRES(mutex_) { return stop_; });
    lock.unlock();
    LookAtAll();
    lock.lock();
  }
}

void ValueWatch::Stop() {
  {
    LockGuard lock(mutex_);
    stop_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace ropeway::sched
