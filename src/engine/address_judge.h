// What an engine asks the memory layer about addresses that are known only when a task runs: the contents of a descriptor,
// and the copies of a graph that may be replayed long after its memory was freed (rules/copies.md 7).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ropeway {

// The order of frees and submissions: every free moves it on, and work that is judged when it runs remembers what it showed when it was
// submitted. What was freed later is still there for it.
class FreeClock {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;  // for what is judged as it is when it runs
  static uint64_t Now() { return ticks_.load(std::memory_order_acquire); }
  static uint64_t Tick() { return ticks_.fetch_add(1, std::memory_order_acq_rel) + 1; }

 private:
  static inline std::atomic<uint64_t> ticks_{0};
};

class AddressJudge {
 public:
  virtual ~AddressJudge() = default;
  // Where [address, address + size) is. `usable`: inside one block of a device or of pinned or registered memory that is alive, or was
  // freed after the free clock showed `as_of`.
  struct Verdict {
    bool usable;
    int device;  // -1: host memory
  };
  virtual Verdict Judge(const void* address, size_t size, uint64_t as_of) const = 0;
  // Whether work of one device may use memory of another now.
  virtual bool MayReach(int /*executing*/, int /*owner*/) const { return true; }
};

}  // namespace ropeway
