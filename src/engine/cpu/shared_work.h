// Large work that several threads may carry out together: a range cut into chunks, a counter that deals them out. The
// thread that brings the work stays until the last chunk is done; idle lanes and helping waiters join and leave at any
// chunk. The object lives on the bringer's stack, so joining and leaving go through the board's lock.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/spin_lock.h"

namespace ropeway::cpu {

class SharedWork {
 public:
  using Body = void (*)(void* context, size_t begin, size_t end);
  SharedWork(size_t size, size_t chunk, Body body, void* context)
      : size_(size), chunk_(chunk), body_(body), context_(context) {}

  // Takes chunks until none is left. `stop` cuts the work short (process exit).
  void RunChunks(const std::atomic<bool>& stop) {
    for (;;) {
      const size_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
      if (begin >= size_ || stop.load(std::memory_order_relaxed)) return;
      body_(context_, begin, begin + chunk_ < size_ ? begin + chunk_ : size_);
    }
  }
  bool AllTaken() const { return next_.load(std::memory_order_relaxed) >= size_; }

 private:
  friend class WorkBoard;
  const size_t size_;
  const size_t chunk_;
  const Body body_;
  void* const context_;
  std::atomic<size_t> next_{0};
  int guests_ = 0;  // under the board's lock
};

// Where shared work is posted. A few places are enough: with more bringers than places there are no idle lanes.
class WorkBoard {
 public:
  // Runs the work on this thread and on those who join. Returns when every chunk is done.
  void Run(SharedWork& work, const std::atomic<bool>& stop);
  // Helps with something that is posted; false when there is nothing to do, or enough hands are on it.
  bool Join(const std::atomic<bool>& stop);
  bool HasWork() const { return posted_.load(std::memory_order_seq_cst) != 0; }
  void set_max_guests(int guests) { max_guests_ = guests; }

 private:
  static constexpr int kPlaces = 4;
  SpinLock lock_;
  SharedWork* places_[kPlaces] = {};
  std::atomic<int> posted_{0};
  int max_guests_ = 1;
};

}  // namespace ropeway::cpu
