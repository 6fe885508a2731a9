#include "engine/sched/shared_work.h"

#include <algorithm>
#include <utility>

namespace ropeway::sched {

// Nobody comes any more: everything is taken.
void WorkBoard::Close(SharedWork& work) { wanted_.fetch_sub(std::exchange(work.wanted_, 0), std::memory_order_seq_cst); }

void WorkBoard::Run(SharedWork& work, const std::atomic<bool>& stop) {
  const size_t others = work.Portions() <= 1 ? 0 : work.Portions() - 1;
  SharedWork** place = nullptr;
  if (others != 0) {
    LockGuard lock(lock_);
    for (SharedWork*& candidate : places_) {
      if (candidate != nullptr) continue;
      place = &candidate;
      candidate = &work;
      work.wanted_ = static_cast<int>(std::min(others, static_cast<size_t>(max_guests_)));
      wanted_.fetch_add(work.wanted_, std::memory_order_seq_cst);
      break;
    }
  }
  work.RunPortions(stop);
  if (place == nullptr) return;
  {
    LockGuard lock(lock_);
    *place = nullptr;
    Close(work);
  }
  // Guests that are still inside finish their last portion.
  for (int spins = 0; work.guests_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < 256) {
      CpuRelax();
    } else {
      sched_yield();
    }
  }
}

bool WorkBoard::Join(const std::atomic<bool>& stop, const std::function<void()>& joined) {
  if (!WantsGuests()) return false;
  SharedWork* work = nullptr;
  {
    LockGuard lock(lock_);
    for (SharedWork* candidate : places_) {
      if (candidate == nullptr || candidate->wanted_ == 0) continue;
      if (candidate->AllTaken()) {
        Close(*candidate);
        continue;
      }
      work = candidate;
      --work->wanted_;
      wanted_.fetch_sub(1, std::memory_order_seq_cst);
      work->guests_.fetch_add(1, std::memory_order_relaxed);
      break;
    }
  }
  if (work == nullptr) return false;
  if (joined) joined();
  work->RunPortions(stop);
  work->guests_.fetch_sub(1, std::memory_order_release);
  return true;
}

}  // namespace ropeway::sched
