// Programs that die at a moment that the script has chosen.
#pragma once

#include <sys/time.h>

#include <csignal>
#include <ctime>

#include "tests/hccl_hosts/rank_program.h"

namespace hccl_hosts {

// In microseconds, on a clock that all processes share.
inline long Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

// The folder says when that is.
inline void DieAfter(long microseconds, const Folder& folder) {
  signal(SIGALRM, [](int) { raise(SIGKILL); });
  folder.Write("death", std::to_string(Now() + microseconds));
  const itimerval timer{{0, 0}, {microseconds / 1'000'000, microseconds % 1'000'000 + 1}};
  RW_MUST(setitimer(ITIMER_REAL, &timer, nullptr));
}
inline long DeathOf(const Folder& folder) { return atol(folder.Await("death").c_str()); }

}  // namespace hccl_hosts
