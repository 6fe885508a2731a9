// "Everything that is queued now has run", for memory that is freed while work may still use it (copy-and-memory.md
// 2.9). Also covers synchronous operations that are running on other threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "stream/stream.h"

namespace ropeway {

// How many tasks have ended in all streams: while it grows, somebody gets on.
uint64_t TotalProgress();

class Fence {
 public:
  // A point behind all work that is queued or running now.
  static Fence BehindAll();
  // True once that work is done; stays true.
  bool Passed();
  // Waits for it, and helps. False: what is left stands still, and may do so until the caller goes on.
  bool Await();

 private:
  struct Point {
    StreamHold stream;
    uint64_t sequence;
  };
  void AwaitSome();
  // Somebody has to act before anything of it goes on; perhaps the caller.
  bool HeldUp() const;
  std::vector<Point> points_;
  uint64_t epoch_ = 0;
};

// A synchronous operation in progress on this thread: what it looked up stays mapped until it ends.
class SyncOperation {
 public:
  SyncOperation();
  ~SyncOperation();
  SyncOperation(const SyncOperation&) = delete;
  SyncOperation& operator=(const SyncOperation&) = delete;

 private:
  unsigned slot_;
};

}  // namespace ropeway
