// Those who wait until a word in memory has a value (rules/signals.md 3). Whoever changed memory for a stream or for a
// caller says so, and the waiters of these bytes look again at once. Stores that nobody announces (another process, host code on a
// view of device memory, a second mapping of the same pages) are found by a thread that looks at growing intervals, at most kLongestPause
// apart; it sleeps while nobody waits, and is there from the beginning, as the timer's.
//
// A waiter looks at settled streams only: what it sees while a volley is open does not count, none is opened while somebody waits, and
// whoever closes one says that memory has changed.
//
// Waiters hang in buckets by where their word is, so a change elsewhere costs the same however many there are. Everything that parking
// needs is in the waiter: nothing is allocated.
#pragma once

#include <array>
#include <atomic>
#include <thread>

#include "base/mutex.h"
#include "engine/backend.h"
#include "engine/gate.h"
#include "engine/task.h"

namespace ropeway::sched {

class ValueWatch;

class ValueWaiter : public ParkingPlace::Waiter {
 protected:
  ~ValueWaiter() = default;

 private:
  friend class ValueWatch;
  struct Links {
    ValueWaiter* before = nullptr;
    ValueWaiter* next = nullptr;
  };
  const ValueWatch* parked_in_ = nullptr;
  const void* address_ = nullptr;
  uint64_t value_ = 0;
  ValueTest test_ = ValueTest::kEqual;
  Links in_bucket_;
  Links in_all_;  // then, when it has been taken out: the next one to be sent on
};

class ValueWatch final : public ParkingPlace {
 public:
  ValueWatch(Backend& backend, const Volleys& volleys) : backend_(backend), volleys_(volleys), thread_([this] { Run(); }) {}
  ~ValueWatch() { Stop(); }

  // True: the word at `address` already satisfies the test. False: the waiter is parked.
  bool PassOrPark(ValueWaiter* waiter, const void* address, uint64_t value, ValueTest test);
  bool Unpark(Waiter* waiter) override;

  // Good as a hint only.
  bool AnybodyWaits() const { return waiting_.load(std::memory_order_relaxed) != 0; }
  // Behind the opening of a volley: who comes later than this finds it open.
  bool AnybodyWaitsNow() const { return waiting_.load(std::memory_order_seq_cst) != 0; }
  // Memory has changed, and a sequentially consistent store came behind the change. One load while nobody waits. With a task: by it.
  void MemoryChanged(const Task* task = nullptr) {
    if (waiting_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      Look(task);
  }
  // The same where no such store came behind the change. Most programs never wait for a value: those are spared an instruction that stands
  // still until the last byte of the change has left the core. Who changes memory while the first waiter of all parks may so overlook it;
  // the thread that looks does not.
  void MemoryChangedNow(const Task* task = nullptr) {
    if (!used_.load(std::memory_order_relaxed)) [[likely]]
      return;
    if (waiting_.fetch_add(0, std::memory_order_seq_cst) != 0) [[unlikely]]
      Look(task);
  }
  void Stop();

 private:
  using Links = ValueWaiter::Links;
  struct List {
    ValueWaiter* first = nullptr;
    ValueWaiter* last = nullptr;
    void Add(ValueWaiter* waiter, Links ValueWaiter::*links);
    void Remove(ValueWaiter* waiter, Links ValueWaiter::*links);
  };
  struct Bucket {
    List waiters;                   // with mutex_ held
    std::atomic<bool> used{false};  // for a look without it
  };
  static constexpr size_t kBuckets = 4096;
  static constexpr size_t kGrain = 512;  // bytes that share a bucket

  bool Satisfied(const ValueWaiter& waiter) const;
  static size_t GrainOf(const void* address) { return reinterpret_cast<uintptr_t>(address) / kGrain; }
  Bucket& BucketOf(size_t grain) { return buckets_[(grain ^ grain / kBuckets) % kBuckets]; }
  void Hang(ValueWaiter* waiter) RW_REQUIRES(mutex_);
  void TakeOut(ValueWaiter* waiter) RW_REQUIRES(mutex_);
  void TakeIfSatisfied(ValueWaiter* waiter, List* released) RW_REQUIRES(mutex_);

  // Send on those whose value has come: of the words that a task may have changed, of those in a range, of all.
  void Look(const Task* task);
  void LookAt(const void* address, size_t size);
  void LookAtAll();
  static void SendOn(const List& released);
  void Run();

  Backend& backend_;
  const Volleys& volleys_;
  std::atomic<bool> used_{false};  // somebody has parked here; stays so
  Mutex mutex_{LockRank::kValueWatch};
  std::array<Bucket, kBuckets> buckets_;
  List all_ RW_GUARDED_BY(mutex_);  // oldest first
  std::atomic<size_t> waiting_{0};
  Condition changed_;
  bool fresh_ RW_GUARDED_BY(mutex_) = false;    // somebody came: look often again
  bool resting_ RW_GUARDED_BY(mutex_) = false;  // the thread waits for somebody to come
  bool stop_ RW_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace ropeway::sched
