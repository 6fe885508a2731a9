// Which points of other streams a stream has been told to wait for lately, so that memory which was freed there can be used
// here. Forgetting is always right: it only costs a chance to use memory again. Kept while somebody asks for it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/spin_lock.h"

namespace ropeway {

class KnownOrder {
 public:
  // Turned on by the first memory pool of the process.
  static inline std::atomic<bool> wanted{false};

  // What is submitted from now on runs behind task `sequence` of the stream with this id; 0 for a task that was kept or captured.
  void Learn(int stream_id, uint64_t sequence) {
    if (!wanted.load(std::memory_order_relaxed) || sequence == 0) [[likely]]
      return;
    LockGuard lock(lock_);
    for (Point& point : points_) {
      if (point.stream_id != stream_id) continue;
      if (sequence > point.sequence) point.sequence = sequence;
      return;
    }
    points_[next_++ % points_.size()] = {stream_id, sequence};
  }

  bool Knows(int stream_id, uint64_t sequence) const {
    LockGuard lock(lock_);
    for (const Point& point : points_) {
      if (point.stream_id == stream_id) return point.sequence >= sequence;
    }
    return false;
  }

  void Clear() {
    LockGuard lock(lock_);
    points_ = {};
    next_ = 0;
  }

 private:
  struct Point {
    int stream_id = 0;  // of no stream
    uint64_t sequence = 0;
  };
  mutable SpinLock lock_{LockRank::kKnownOrder};
  std::array<Point, 16> points_ RW_GUARDED_BY(lock_){};
  size_t next_ RW_GUARDED_BY(lock_) = 0;
};

}  // namespace ropeway
