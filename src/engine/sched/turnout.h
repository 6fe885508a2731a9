// A thread that goes from stream to stream asks for what a submit to an idle queue writes before it comes there. Every queue remembers
// which lines the thread needed some turns later: most programs go through their streams in the same order again and again.
//
// Turnouts outlive their queues and are never given back, since threads keep their addresses. All that is done with lines is to ask for
// them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/prefetch.h"

namespace ropeway::sched {

class alignas(64) Turnout {
 public:
  using Lines = std::array<const void*, 3>;  // a queue's state, number and first slot, which its last owner has written or read
  // How many turns ahead: what another core has is more than one submit away.
  static constexpr size_t kTurnsAhead = 2;

  explicit Turnout(const Lines& own) : own_(own) {
    static std::atomic<const Turnout*> newest{nullptr};  // so that none of them looks lost
    older_ = newest.load(std::memory_order_relaxed);
    while (!newest.compare_exchange_weak(older_, this, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  void ExpectOwn() const {
    for (const void* line : own_) PrefetchForWrite(line);
  }
  void ExpectLater() const {
    for (const std::atomic<const void*>& line : later_) PrefetchForWrite(line.load(std::memory_order_relaxed));
  }
  // The thread has turned to `other`, some turns behind this one.
  void Learn(const Turnout& other) {
    if (later_[0].load(std::memory_order_relaxed) == other.own_[0]) return;
    for (size_t i = 0; i < own_.size(); ++i) later_[i].store(other.own_[i], std::memory_order_relaxed);
    later_[own_.size()].store(&other, std::memory_order_relaxed);
  }

 private:
  const Lines own_;
  std::atomic<const void*> later_[4] = {};  // the lines of another, and its turnout
  const Turnout* older_;
};

}  // namespace ropeway::sched
