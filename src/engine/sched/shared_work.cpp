#include "engine/sched/shared_work.h"

#include <algorithm>
#include <iterator>
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
  work.Lead(stop);
  if (place == nullptr) return;
  {
    LockGuard lock(lock_);
    *place = nullptr;
    Close(work);
  }
  // Guests that are still inside finish their last portion.
  for (int spins = 0; work.guests_.load(std::memory_order_acquire) != 0; ++spins) RelaxOrYield(spins);
}

bool WorkBoard::Join(const std::atomic<bool>& stop, int portions, const std::function<void()>& joined) {
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
  while (portions > 0 && !stop.load(std::memory_order_relaxed) && work->RunPortion()) --portions;
  if (portions == 0) Leave(*work);
  work->guests_.fetch_sub(1, std::memory_order_release);
  return true;
}

// Somebody else may come instead, as long as the work is there.
void WorkBoard::Leave(SharedWork& work) {
  LockGuard lock(lock_);
  if (std::find(std::begin(places_), std::end(places_), &work) == std::end(places_) || work.AllTaken()) return;
  ++work.wanted_;
  wanted_.fetch_add(1, std::memory_order_seq_cst);
}

}  // namespace ropeway::sched
