// Buffers of the program that records are written to. Functions of the program are called without a lock: one that asks for a buffer or
// takes one back may use all of mspti.
//
// Invariants:
//  1. A buffer that the program gave is in exactly one place: filling_, spare_, full_, or on the stack of the one thread that asked for it
//     or gives it back, which is counted in under_way_.
//  2. What has left the queue is in unwritten_ or in a buffer, and moves there under the lock: no thread has records for itself, so one
//  that
//     finds both empty has seen all of them.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "profile/activity_queue.h"
#include "profile/mspti_records.h"

namespace ropeway {

struct MsptiBufferCalls {
  msptiBuffersCallbackRequestFunc request = nullptr;
  msptiBuffersCallbackCompleteFunc complete = nullptr;
};

class MsptiBuffers {
 public:
  explicit MsptiBuffers(ActivityQueue& queue) : queue_(queue) {}
  void Register(const MsptiBufferCalls& calls);
  // Writes what is in the queue, asking for buffers; those that are four fifths full are given back. Without a buffer it is dropped.
  void Write();
  // Gives back every buffer, also on behalf of other threads: when this returns the program has had them all, unless it is called by a
  // function that gives or takes one.
  void GiveBackAll();

 private:
  struct Buffer {
    uint8_t* begin;
    size_t size;
    size_t most;  // records; 0: as many as fit
    size_t used = 0;
    size_t records = 0;
    bool HasRoom(size_t bytes) const { return used + bytes <= size && (most == 0 || records < most); }
    bool NearlyFull() const { return used >= size / 5 * 4; }
  };
  // As many as there is room for. True: all.
  bool Fill() RW_REQUIRES(mutex_);
  void Put(const MsptiRecord& record) RW_REQUIRES(mutex_);
  // Asks the program, where one is still wanted; false: it has none to give that is of any use.
  bool Request();
  void GiveBack(bool all);
  void AwaitOthers();

  ActivityQueue& queue_;
  Mutex mutex_{LockRank::kMsptiBuffers};
  Condition arrived_;
  MsptiBufferCalls calls_ RW_GUARDED_BY(mutex_);
  std::deque<Activity> unwritten_ RW_GUARDED_BY(mutex_);
  std::optional<Buffer> filling_ RW_GUARDED_BY(mutex_);
  std::vector<Buffer> spare_ RW_GUARDED_BY(mutex_);  // asked for by several threads at once
  std::vector<Buffer> full_ RW_GUARDED_BY(mutex_);
  int under_way_ RW_GUARDED_BY(mutex_) = 0;  // threads in a function of the program
};

}  // namespace ropeway
