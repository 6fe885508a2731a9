// A 32-bit counter on a device that streams change and wait for (rules/signals.md 2).
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "base/mutex.h"
#include "base/slab.h"
#include "base/status.h"
#include "stream/operation.h"

namespace ropeway {

// The numbers are those of the API.
enum class CountChange : uint32_t { kSet = 0, kAdd = 1, kOr = 2, kAnd = 4 };
enum class CountTest : uint32_t { kLess = 0, kEqual = 1, kMore = 2, kAtLeast = 3, kAllBits = 4 };

struct CountWait {
  CountTest test;
  uint32_t value;
  bool clears;  // the counter is 0 when the wait is over
};

// What queued work holds, with or without its handle.
class Counter : public std::enable_shared_from_this<Counter> {
 public:
  Status ChangeOn(StreamRef stream, const FailureScope* current, CountChange change, uint32_t value, const char* call);
  Status AwaitOn(StreamRef stream, const FailureScope* current, CountWait wait, int64_t timeout_ns, const char* call);

 private:
  class Changing;
  class Waiting;
  void Change(CountChange change, uint32_t value);
  void Await(std::list<std::shared_ptr<Waiting>>& waiting);
  void GiveUp(const Waiting& waiting);
  // Waits bring their places in the list along: what happens on the way of a stream takes no memory.
  using Waits = std::list<std::shared_ptr<Waiting>>;
  // Those who may go on, in the order in which they came.
  Waits TakeReleased() RW_REQUIRES(mutex_);
  bool Holds(const CountWait& wait) const RW_REQUIRES(mutex_);

  Mutex mutex_{LockRank::kCounter};
  uint32_t value_ RW_GUARDED_BY(mutex_) = 0;
  Waits waiting_ RW_GUARDED_BY(mutex_);
};

class CountNotify;
using CountNotifySlab = Slab<CountNotify, 0x52>;
CountNotifySlab& CountNotifies();
using CountNotifyHold = SlabRef<CountNotifySlab, CountNotify>;

class CountNotify final : public SlabObject {
 public:
  static CountNotify* Create(int device);
  static bool Destroy(void* handle);

  int id() const { return id_; }
  int device() const { return device_; }
  Counter& counter() { return *counter_; }
  void Recycle() { counter_.reset(); }

 private:
  int id_ = 0;
  int device_ = 0;
  std::shared_ptr<Counter> counter_;
};

}  // namespace ropeway
