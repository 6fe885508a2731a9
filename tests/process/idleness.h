// How busy the library's own threads (rw-...) are, for the programs whose subject is idleness. Counted in context
// switches, which no load of the machine can change. These programs wait for a timer: time itself is what they look at.
#pragma once

#include <sys/timerfd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/process/process_test.h"

namespace process_test {

// What the library's threads did so far, and whether all of them sleep. A sanitizer's thread is not ours.
struct Activity {
  uint64_t switches = 0;
  bool all_asleep = true;
  bool operator==(const Activity& other) const { return switches == other.switches && all_asleep == other.all_asleep; }
};

inline Activity LibraryActivity() {
  Activity activity;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    bool ours = false;
    for (std::string line; std::getline(status, line);) {
      std::istringstream words(line);
      std::string key, value;
      words >> key >> value;
      if (key == "Name:") ours = value.rfind("rw-", 0) == 0;
      if (ours && key == "State:" && value != "S") activity.all_asleep = false;
      if (ours && (key == "voluntary_ctxt_switches:" || key == "nonvoluntary_ctxt_switches:")) {
        activity.switches += std::stoull(value);
      }
    }
  }
  return activity;
}

inline void AwaitTimer(long milliseconds) {
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  itimerspec when{};
  when.it_value.tv_nsec = milliseconds * 1000000;
  uint64_t expirations = 0;
  RW_CHECK_EQ(timerfd_settime(fd, 0, &when, nullptr), 0);
  RW_CHECK_EQ(read(fd, &expirations, sizeof(expirations)), static_cast<ssize_t>(sizeof(expirations)));
  close(fd);
}

// All threads sleep, and nothing wakes them.
inline void CheckIdle(const char* when) {
  // Threads may linger a little after their last task, longer on a busy machine; the program's alarm ends a wait in
  // vain.
  Activity quiet = LibraryActivity();
  for (int rounds_asleep = 0; rounds_asleep < 4;) {
    AwaitTimer(50);
    const Activity now = LibraryActivity();
    rounds_asleep = now == quiet && now.all_asleep ? rounds_asleep + 1 : 0;
    quiet = now;
  }
  AwaitTimer(300);
  const Activity later = LibraryActivity();
  if (!(later == quiet)) {
    Fail(__FILE__, __LINE__, std::string(when) + ": woken " + std::to_string(later.switches - quiet.switches) + " times in 0.3 s");
  }
}

}  // namespace process_test
