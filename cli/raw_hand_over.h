// What it costs two cores to hand something over, there and back: two threads that spin on a word each. Everything that goes from one
// thread to another is measured in this unit, because it differs from machine to machine.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "cli/measure.h"
#include "cli/raw_team.h"

namespace ropeway::cli {

constexpr const char* kHandOverName = "hand-over";

class RawHandOver {
 public:
  // Seconds, there and back. Needs two cores.
  double Sample() {
    team_.Begin();
    there_.word.store(0);
    back_.word.store(0);
    double seconds = 0;
    std::atomic<bool> thrown{false};  // one of the two threads throws the ball, the other returns it
    const std::function<void(size_t)> play = [&](size_t) {
      if (thrown.exchange(true)) return Return();
      const Clock::time_point start = Clock::now();
      for (uint64_t i = 1; i <= kTurns; ++i) {
        there_.word.store(i, std::memory_order_release);
        AwaitTurn(back_, i);
      }
      seconds = SecondsSince(start) / kTurns;
    };
    team_.Run(2, play);
    team_.End();
    return seconds;
  }

 private:
  static constexpr uint64_t kTurns = 2000;
  struct alignas(128) Ball {
    std::atomic<uint64_t> word{0};
  };

  // Both threads must run at once; where the system does not let them, they take turns.
  static void AwaitTurn(const Ball& ball, uint64_t turn) {
    for (int spins = 1; ball.word.load(std::memory_order_acquire) != turn; ++spins) {
      if (spins % 1024 == 0) sched_yield();
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }
  void Return() {
    for (uint64_t i = 1; i <= kTurns; ++i) {
      AwaitTurn(there_, i);
      back_.word.store(i, std::memory_order_release);
    }
  }

  RawTeam team_{2};
  Ball there_;
  Ball back_;
};

}  // namespace ropeway::cli
