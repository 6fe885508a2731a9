// Those who wait until a word in memory has a value (copy-and-memory.md 7.4). Whoever changed memory for a stream or for a
// caller says so, and the waiters look again at once. Stores that nobody announces (another process, host code on a
// view of device memory) are found by a thread that looks at growing intervals, at most kLongestPause apart; it sleeps
// while nobody waits, and is there from the beginning, as the timer's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/backend.h"
#include "engine/gate.h"
#include "engine/task.h"

namespace ropeway::sched {

class ValueWatch final : public ParkingPlace {
 public:
  explicit ValueWatch(Backend& backend) : backend_(backend), thread_([this] { Run(); }) {}
  ~ValueWatch() { Stop(); }

  // True: the word at `address` already satisfies the test. False: the waiter is parked.
  bool PassOrPark(Waiter* waiter, const void* address, uint64_t value, ValueTest test);
  bool Unpark(Waiter* waiter) override;

  // Memory has changed, and a sequentially consistent store came behind the change. One load while nobody waits.
  void MemoryChanged() {
    if (waiting_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      Look();
  }
  // The same where no such store came behind the change.
  void MemoryChangedNow() {
    if (waiting_.fetch_add(0, std::memory_order_seq_cst) != 0) [[unlikely]]
      Look();
  }
  void Stop();

 private:
  struct Entry {
    Waiter* waiter;
    const void* address;
    uint64_t value;
    ValueTest test;
  };
  bool Satisfied(const Entry& entry) const;
  // Sends on those whose value has come.
  void Look();
  void Run();

  Backend& backend_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_
  std::atomic<size_t> waiting_{0};
  std::condition_variable changed_;
  bool fresh_ = false;  // somebody came: look often again
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace ropeway::sched
