// What the stress tests share: seeded randomness that a failure prints, rounds that ROPEWAY_STRESS_ROUNDS multiplies, and
// threads that have a device set.
#pragma once

#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/acl_test.h"

namespace ropeway_test {

// ROPEWAY_STRESS_ROUNDS multiplies the work, for long runs.
inline int Rounds(int standard) {
  static const int factor = [] {
    const char* text = std::getenv("ROPEWAY_STRESS_ROUNDS");
    return text == nullptr || std::atoi(text) < 1 ? 1 : std::atoi(text);
  }();
  return standard * factor;
}

// ROPEWAY_STRESS_SEED repeats a run, as far as threads let it.
inline uint32_t Seed() {
  static const uint32_t seed = [] {
    const char* text = std::getenv("ROPEWAY_STRESS_SEED");
    return text == nullptr ? 20261115u : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  }();
  return seed;
}

class Random {
 public:
  explicit Random(uint32_t stream) : engine_(Seed() * 1000003u + stream) {}
  size_t Below(size_t limit) { return engine_() % limit; }
  bool OneIn(size_t n) { return Below(n) == 0; }
  uint8_t Byte() { return static_cast<uint8_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

// Runs `work(number)` on `count` threads that have device 0 set, and waits for them.
inline void OnThreads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number) {
    threads.emplace_back([&work, number] {
      SCOPED_TRACE("ROPEWAY_STRESS_SEED=" + std::to_string(Seed()) + ", thread " + std::to_string(number));
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      work(number);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Holds streams back for good: a classic event that nobody records.
class Barrier {
 public:
  Barrier() { EXPECT_EQ(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC), ACL_SUCCESS); }
  ~Barrier() { EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  aclError Block(aclrtStream stream) { return aclrtStreamWaitEvent(stream, event_); }

 private:
  aclrtEvent event_ = nullptr;
};

}  // namespace ropeway_test
