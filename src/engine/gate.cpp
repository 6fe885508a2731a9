#include "engine/gate.h"

#include <utility>

#include "base/race_detector.h"

namespace ropeway {

thread_local bool BeginsNextWait::on_ = false;

bool Gate::PassOrPark(Waiter* waiter) {
  {
    LockGuard lock(lock_);
    waiter->broke_through_ = broken_ && !open_;
    if (open_) {
      race_detector::TakeOver(this);
      if (mode_ == Mode::kAutoReset) open_ = false;
      return true;
    }
    if (broken_) return true;
    if (!waiter->follows_ || foretold_ == nullptr) {
      waiter->next_parked_ = nullptr;
      (last_ != nullptr ? last_->next_parked_ : first_) = waiter;
      last_ = waiter;
      return false;
    }
  }
  waiter->Foretold();  // since it last looked: nobody would tell it again
  return false;
}

bool Gate::Unpark(Waiter* waiter) {
  LockGuard lock(lock_);
  Waiter* before = nullptr;
  for (Waiter* parked = first_; parked != nullptr; before = parked, parked = parked->next_parked_) {
    if (parked != waiter) continue;
    (before != nullptr ? before->next_parked_ : first_) = parked->next_parked_;
    if (last_ == parked) last_ = before;
    return true;
  }
  return false;
}

void Gate::Open() {
  Waiter* released;
  std::shared_ptr<DevicePoint> followed;  // goes behind the lock
  {
    LockGuard lock(lock_);
    followed.swap(foretold_);
    race_detector::HandOver(this);
    released = first_;
    if (mode_ == Mode::kSticky) {
      open_ = true;
      first_ = last_ = nullptr;
    } else if (released != nullptr) {
      first_ = released->next_parked_;
      if (first_ == nullptr) last_ = nullptr;
      released->next_parked_ = nullptr;
    } else {
      open_ = true;
    }
  }
  Release(released);
}

// A released waiter may park somewhere else before the loop comes round: read its link first.
void Gate::Release(Waiter* released) {
  while (released != nullptr) {
    Waiter* next = std::exchange(released->next_parked_, nullptr);
    released->Opened();
    released = next;
  }
}

void Gate::Break() {
  Waiter* released;
  {
    LockGuard lock(lock_);
    broken_ = true;
    released = std::exchange(first_, nullptr);
    last_ = nullptr;
    for (Waiter* parked = released; parked != nullptr; parked = parked->next_parked_) parked->broke_through_ = true;
  }
  Release(released);
}

void Gate::Foretell(std::shared_ptr<DevicePoint> point) {
  Waiter* followers;
  {
    LockGuard lock(lock_);
    if (open_ || broken_) return;
    foretold_ = std::move(point);
    followers = TakeFollowers();
  }
  while (followers != nullptr) {
    Waiter* next = std::exchange(followers->next_parked_, nullptr);
    followers->Foretold();
    followers = next;
  }
}

Gate::Waiter* Gate::TakeFollowers() {
  Waiter* followers = nullptr;
  Waiter** next_follower = &followers;
  Waiter** next_parked = &first_;
  last_ = nullptr;
  for (Waiter* waiter = std::exchange(first_, nullptr); waiter != nullptr;) {
    Waiter* const next = std::exchange(waiter->next_parked_, nullptr);
    Waiter**& end = waiter->follows_ ? next_follower : next_parked;
    *end = waiter;
    end = &waiter->next_parked_;
    if (!waiter->follows_) last_ = waiter;
    waiter = next;
  }
  return followers;
}

std::shared_ptr<DevicePoint> Gate::foretold() const {
  LockGuard lock(lock_);
  return foretold_;
}

void Gate::Renew() {
  LockGuard lock(lock_);
  open_ = broken_ = false;
}

void Gate::Close() {
  std::shared_ptr<DevicePoint> followed;
  LockGuard lock(lock_);
  followed.swap(foretold_);
  open_ = false;
}

bool Gate::open() const {
  LockGuard lock(lock_);
  return open_;
}

}  // namespace ropeway
