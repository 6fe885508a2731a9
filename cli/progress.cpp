#include "cli/progress.h"

#include <algorithm>
#include <cstdio>

#include "cli/table.h"

namespace ropeway::cli {

void Progress::Draw(size_t done, size_t all, const std::string& words) {
  constexpr size_t kWidth = 24;
  const size_t filled = kWidth * std::min(done, all) / std::max(all, size_t{1});
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r\x1b[K[%s] %s", bar.c_str(), words.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::Step(const std::string& name) {
  ++step_;
  if (TooEarly()) return;
  if (!OnTerminal(stderr)) {
    std::fprintf(stderr, "%s %s\n", verb_.c_str(), name.c_str());
    return;
  }
  const size_t steps = std::max({steps_, step_, size_t{1}});
  Draw(step_ - 1, steps, std::to_string(step_) + " of " + std::to_string(steps) + ": " + verb_ + " " + name);
}

void Progress::Reach(const std::string& name, size_t done, size_t all) {
  constexpr double kBetweenDrawings = 0.1;
  if (TooEarly() || SecondsSince(drawn_at_) < kBetweenDrawings || !OnTerminal(stderr)) return;
  drawn_at_ = Clock::now();
  Draw(done, all, std::to_string(100 * done / std::max(all, size_t{1})) + " %: " + verb_ + " " + name);
}

void Progress::Clear() {
  if (drawn_) std::fprintf(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace ropeway::cli
