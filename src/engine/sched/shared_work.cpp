#include "engine/sched/shared_work.h"

namespace ropeway::sched {

void WorkBoard::Run(SharedWork& work, const std::atomic<bool>& stop) {
  SharedWork** place = nullptr;
  {
    LockGuard lock(lock_);
    for (SharedWork*& candidate : places_) {
      if (candidate != nullptr) continue;
      place = &candidate;
      candidate = &work;
      posted_.fetch_add(1, std::memory_order_seq_cst);
      break;
    }
  }
  work.RunPortions(stop);
  if (place == nullptr) return;
  {
    LockGuard lock(lock_);
    *place = nullptr;
    posted_.fetch_sub(1, std::memory_order_seq_cst);
  }
  // Guests that are still inside finish their last portion.
  for (int spins = 0;; ++spins) {
    {
      LockGuard lock(lock_);
      if (work.guests_ == 0) return;
    }
    if (spins < 256) {
      CpuRelax();
    } else {
      sched_yield();
    }
  }
}

bool WorkBoard::WantsGuests() {
  if (!HasWork()) return false;
  LockGuard lock(lock_);
  for (const SharedWork* work : places_) {
    if (work != nullptr && work->guests_ < max_guests_ && !work->AllTaken()) return true;
  }
  return false;
}

bool WorkBoard::Join(const std::atomic<bool>& stop, const std::function<void()>& joined) {
  if (!HasWork()) return false;
  SharedWork* work = nullptr;
  {
    LockGuard lock(lock_);
    for (SharedWork* candidate : places_) {
      if (candidate == nullptr || candidate->guests_ >= max_guests_ || candidate->AllTaken()) continue;
      work = candidate;
      ++work->guests_;
      break;
    }
  }
  if (work == nullptr) return false;
  if (joined) joined();
  work->RunPortions(stop);
  LockGuard lock(lock_);
  --work->guests_;
  return true;
}

}  // namespace ropeway::sched
