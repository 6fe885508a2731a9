// "Everything that is queued now has run", for memory that is freed while work may still use it (rules/copies.md 7).
// Also covers synchronous operations that are running on other threads.
//
// A fence is a number: that of a period, which ends when everything that was queued at its beginning has run. A few periods may be open at
// a time; who asks while all of them are gets the next one, which begins later than it could. So what a fence costs does not grow with the
// number of fences. Nor does it grow with the number of streams: only those are looked at that were given work since they were
// last found at rest, and what a period has to remember of a stream lies in the stream (fence_marks.h). Nothing is allocated.
#pragma once

#include <atomic>
#include <cstdint>

namespace ropeway {

class Stream;

// How many tasks have ended in all streams: while it grows, somebody gets on.
uint64_t TotalProgress();

class Fence {
 public:
  // A fence that has been passed.
  Fence() = default;
  // A point behind all work that is queued or running now.
  static Fence BehindAll();
  // True once that work is done; stays true. A fence is passed no earlier than those that were made before it.
  bool Passed() const;
  // Waits for it, and helps. False: what is left stands still, and may do so until the caller goes on.
  bool Await() const;

  // A stream at rest is about to get work: fences ask it again from now on.
  static void Rouse(Stream& stream);

 private:
  explicit Fence(uint64_t period) : period_(period) {}
  uint64_t period_ = 0;
};

// Where a synchronous operation says that it runs (fence.cpp).
struct alignas(64) OperationPlace {
  std::atomic<uint64_t> since{0};  // the epoch in which it began; 0: nobody is here
  OperationPlace* next = nullptr;

  bool TryTake(uint64_t epoch) {
    uint64_t nobody = 0;
    return since.compare_exchange_strong(nobody, epoch, std::memory_order_seq_cst);
  }
};

// A synchronous operation in progress on this thread: what it looked up stays mapped until it ends.
OperationPlace* BeginSyncOperation();
// Who sees this sees what the operation wrote; nobody has to see it soon.
inline void EndSyncOperation(OperationPlace* place) { place->since.store(0, std::memory_order_release); }

class SyncOperation {
 public:
  SyncOperation() : place_(BeginSyncOperation()) {}
  ~SyncOperation() { EndSyncOperation(place_); }
  SyncOperation(const SyncOperation&) = delete;
  SyncOperation& operator=(const SyncOperation&) = delete;

 private:
  OperationPlace* const place_;
};

}  // namespace ropeway
