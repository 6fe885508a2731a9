// The raw limit of two threads on one copy: the caller and a helper stream one half each. Between measurements the
// helper sleeps, so that it takes no core away from whatever is measured next.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "cli/raw_copy.h"

namespace ropeway::cli {

class RawPair {
 public:
  RawPair() : helper_([this] { Help(); }) {}
  ~RawPair() {
    phase_.store(kQuit);
    phase_.notify_one();
    helper_.join();
  }
  RawPair(const RawPair&) = delete;
  RawPair& operator=(const RawPair&) = delete;

  // Wakes the helper on another core and returns once it spins there, ready for Copy().
  void Begin() {
    KeepAwayFrom(sched_getcpu());
    ready_.store(false);
    phase_.store(kAwake);
    phase_.notify_one();
    while (!ready_.load()) sched_yield();
  }

  void Copy(void* dst, const void* src, size_t size_bytes) {
    const size_t half = size_bytes / 2;
    dst_ = static_cast<uint8_t*>(dst) + half;
    src_ = static_cast<const uint8_t*>(src) + half;
    size_ = size_bytes - half;
    const uint64_t job = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(job, std::memory_order_release);
    StreamingCopy(dst, src, half);
    while (done_.load(std::memory_order_acquire) != job) sched_yield();
  }

  // Sends the helper to sleep.
  void End() {
    phase_.store(kAsleep);
    while (ready_.load()) sched_yield();
  }

 private:
  enum Phase { kAsleep, kAwake, kQuit };

  // A freshly woken thread mostly lands on its waker's core; the raw limit should not depend on that.
  void KeepAwayFrom(int busy_core) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) < 2 || busy_core < 0) return;
    CPU_CLR(static_cast<size_t>(busy_core), &cores);
    pthread_setaffinity_np(helper_.native_handle(), sizeof(cores), &cores);
  }

  void Help() {
    for (;;) {
      phase_.wait(kAsleep);
      if (phase_.load() == kQuit) return;
      ready_.store(true);
      while (phase_.load() == kAwake) {
        const uint64_t job = submitted_.load(std::memory_order_acquire);
        if (job == done_.load(std::memory_order_relaxed)) {
          sched_yield();
          continue;
        }
        StreamingCopy(dst_, src_, size_);
        done_.store(job, std::memory_order_release);
      }
      ready_.store(false);
    }
  }

  std::atomic<Phase> phase_{kAsleep};
  std::atomic<bool> ready_{false};
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> done_{0};
  uint8_t* dst_ = nullptr;
  const uint8_t* src_ = nullptr;
  size_t size_ = 0;
  std::thread helper_;
};

}  // namespace ropeway::cli
