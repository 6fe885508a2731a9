// The raw limit of several threads: the caller and its helpers take parts of one job from a counter. Between measurements the helpers
// sleep, so that they take no core away from whatever is measured next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "cli/raw_methods.h"

namespace ropeway::cli {

class RawTeam {
 public:
  explicit RawTeam(int threads);
  ~RawTeam();
  RawTeam(const RawTeam&) = delete;
  RawTeam& operator=(const RawTeam&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  // Wakes the helpers, each on a core of its own, and returns once all of them spin there.
  void Begin();
  // Calls part(0) to part(parts - 1), each once, on all threads.
  void Run(size_t parts, const std::function<void(size_t)>& part);
  // Sends the helpers to sleep.
  void End();

  // One large copy, in slices.
  void Copy(const RawMethod& method, void* dst, const void* src, size_t size_bytes);

 private:
  enum Phase { kAsleep, kAwake, kQuit };
  void KeepAwayFrom(int busy_core);
  void Help();
  void TakeParts();

  std::atomic<Phase> phase_{kAsleep};
  std::atomic<int> ready_{0};
  std::atomic<uint64_t> job_{0};  // the number of the current one
  std::atomic<int> busy_{0};      // helpers that have not finished it
  std::atomic<size_t> next_{0};   // part that nobody has taken
  size_t parts_ = 0;
  const std::function<void(size_t)>* part_ = nullptr;
  std::vector<std::thread> helpers_;
};

// 1, 2, 3, 4, 6, 8, 12... up to the cores that this process may use.
std::vector<int> TeamSizes();

// The number of threads with which `cost` (smaller is better) comes out best; each is measured a few times, in its own Begin and End.
int BestTeamSize(const std::function<double(RawTeam&)>& cost);

}  // namespace ropeway::cli
