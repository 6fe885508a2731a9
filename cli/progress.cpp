#include "cli/progress.h"

#include <algorithm>
#include <cstdio>

#include "cli/table.h"

namespace ropeway::cli {

void Progress::Step(const std::string& name) {
  constexpr size_t kWidth = 24;
  ++step_;
  if (!OnTerminal(stderr)) {
    std::fprintf(stderr, "%s %s\n", verb_.c_str(), name.c_str());
    return;
  }
  const size_t steps = std::max({steps_, step_, size_t{1}});
  const size_t done = kWidth * (step_ - 1) / steps;
  const std::string bar = std::string(done, '#') + std::string(kWidth - done, '.');
  std::fprintf(stderr, "\r\x1b[K[%s] %zu of %zu: %s %s", bar.c_str(), step_, steps, verb_.c_str(), name.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::Clear() {
  if (drawn_) std::fprintf(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace ropeway::cli
