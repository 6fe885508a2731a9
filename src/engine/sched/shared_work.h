// Large work that several threads may carry out together, portion by portion. The thread that brings the work stays until
// the last portion is done; idle lanes and helping waiters join and leave at any portion. The object lives on the
// bringer's stack, so joining and leaving go through the board's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "base/spin_lock.h"
#include "engine/part_order.h"
#include "engine/volley.h"

namespace ropeway::sched {

class SharedWork {
 public:
  // Takes a portion and carries it out; false when none is left. Any number of threads at once.
  virtual bool RunPortion() = 0;
  virtual bool AllTaken() const = 0;
  // About how many there are: more hands than that find nothing to do.
  virtual size_t Portions() const = 0;
  // What the bringer does; all portions are taken when this returns.
  virtual void Lead(const std::atomic<bool>& stop) { RunPortions(stop); }

  // Portions until none is left. `stop` cuts the work short (process exit).
  void RunPortions(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed) && RunPortion()) {
    }
  }

 protected:
  ~SharedWork() = default;

 private:
  friend class WorkBoard;
  int wanted_ = 0;              // guests that may still come; under the board's lock
  std::atomic<int> guests_{0};  // that are inside; they come under the lock, and have touched the work for the last time when they leave
};

// A range cut into chunks of one size, and a counter that deals them out in their order.
class RangeWork final : public SharedWork {
 public:
  using Body = void (*)(void* context, size_t begin, size_t end);
  RangeWork(size_t size, size_t chunk, Body body, void* context)
      : size_(size), chunk_(chunk), body_(body), context_(context), order_(PartOrder::Of((size + chunk - 1) / chunk)) {}

  bool RunPortion() override {
    const size_t turn = next_.fetch_add(1, std::memory_order_relaxed);
    if (turn >= order_.count()) return false;
    const size_t begin = order_[turn] * chunk_;
    body_(context_, begin, begin + chunk_ < size_ ? begin + chunk_ : size_);
    return true;
  }
  bool AllTaken() const override { return next_.load(std::memory_order_relaxed) >= order_.count(); }
  size_t Portions() const override { return order_.count(); }

 private:
  const size_t size_;
  const size_t chunk_;
  const Body body_;
  void* const context_;
  const PartOrder order_;
  std::atomic<size_t> next_{0};
};

// Where shared work is posted. A few places are enough: with more bringers than places there are no idle lanes.
class WorkBoard {
 public:
  // Runs the work on this thread and on those who join. Returns when every portion is done.
  void Run(SharedWork& work, const std::atomic<bool>& stop);
  // Helps with something that is posted; false when there is nothing to do, or enough hands are on it. `joined` is called before
  // the first portion. A guest leaves after some portions, for there may be something else to do by then; there is a place for the next.
  static constexpr int kPortionsOfALane = 16;
  bool Join(const std::atomic<bool>& stop, int portions = kPortionsOfALane, const std::function<void()>& joined = nullptr);
  // Whether one more hand would find something to do. Every idle lane looks all the time, so this takes no lock: those who are not
  // wanted would stand in the way of those who are at work.
  bool WantsGuests() const { return wanted_.load(std::memory_order_seq_cst) != 0; }
  void set_max_guests(int guests) { max_guests_ = guests; }

 private:
  static constexpr int kPlaces = 4;
  void Close(SharedWork& work) RW_REQUIRES(lock_);
  void Leave(SharedWork& work);

  SpinLock lock_{LockRank::kWorkBoard};
  SharedWork* places_[kPlaces] RW_GUARDED_BY(lock_) = {};
  int max_guests_ = 1;
  alignas(64) std::atomic<int> wanted_{0};  // the sum of the works'; written under the lock
};

}  // namespace ropeway::sched

namespace ropeway {

// How backends share work, and how they learn that the process ends.
class WorkSharer {
 public:
  // Runs the work on this thread and on those who join. With enough `bytes`, sleeping lanes are woken for it: one for each time that
  // makes enough.
  void Share(sched::SharedWork& work, size_t bytes) {
    CallForHelp(bytes);
    board_.Run(work, stop_);
  }
  // False: these are too few.
  bool CallForHelp(size_t bytes) {
    if (bytes < call_for_help_from_) return false;
    if (call_for_help_ != nullptr) call_for_help_(help_context_, bytes / call_for_help_from_);
    return true;
  }

  sched::WorkBoard& board() { return board_; }
  Volleys& volleys() { return volleys_; }
  const Volleys& volleys() const { return volleys_; }
  // Cuts shared work short; see Engine::Stop.
  std::atomic<bool>& stop() { return stop_; }
  // Waking a lane costs the waker about 10 us: worth it from so many bytes on.
  void set_call_for_help_from(size_t bytes) { call_for_help_from_ = bytes; }
  // Somebody who can wake sleeping lanes; optional.
  void set_call_for_help(void (*call)(void*, size_t hands), void* context) {
    call_for_help_ = call;
    help_context_ = context;
  }

 private:
  sched::WorkBoard board_;
  Volleys volleys_;
  std::atomic<bool> stop_{false};
  size_t call_for_help_from_ = size_t{2} << 20;
  void (*call_for_help_)(void*, size_t hands) = nullptr;
  void* help_context_ = nullptr;
};

}  // namespace ropeway
