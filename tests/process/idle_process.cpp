// An idle process uses no CPU, however many streams it has: its threads sleep, and nothing wakes them. Counted in context
// switches, which no load of the machine can change. Idleness is the subject, so this one waits for a timer.
#include <sys/timerfd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

// What the library's own threads (rw-...) did so far, and whether all of them sleep. A sanitizer's thread is not ours.
struct Activity {
  uint64_t switches = 0;
  bool all_asleep = true;
  bool operator==(const Activity& other) const { return switches == other.switches && all_asleep == other.all_asleep; }
};

Activity LibraryActivity() {
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

void AwaitTimer(long milliseconds) {
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  itimerspec when{};
  when.it_value.tv_nsec = milliseconds * 1000000;
  uint64_t expirations = 0;
  RW_CHECK_EQ(timerfd_settime(fd, 0, &when, nullptr), 0);
  RW_CHECK_EQ(read(fd, &expirations, sizeof(expirations)), static_cast<ssize_t>(sizeof(expirations)));
  close(fd);
}

void CheckIdle(const char* when) {
  // Threads may linger a little after their last task, longer on a busy machine; the program's alarm ends a wait in vain.
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
    process_test::Fail(__FILE__, __LINE__,
                       std::string(when) + ": woken " + std::to_string(later.switches - quiet.switches) + " times in 0.3 s");
  }
}

void Run() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  // A piece of its own for every stream: they are not ordered with each other.
  constexpr size_t kPiece = 1 << 14;
  std::vector<aclrtStream> streams(100, nullptr);
  void* block = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, streams.size() * kPiece, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto set_pieces = [&](size_t stream) {
    char* piece = static_cast<char*>(block) + stream * kPiece;
    RW_CHECK_EQ(aclrtMemsetAsync(piece, kPiece, 1, kPiece, streams[stream]), ACL_SUCCESS);
  };
  for (auto& stream : streams) RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  CheckIdle("streams without work");

  for (size_t i = 0; i < streams.size(); ++i) set_pieces(i);
  RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  CheckIdle("streams after work");

  // The late schedules have work here that nobody waits for, and take it up bit by bit: not idle.
  if (std::getenv("ROPEWAY_SCHEDULE") != nullptr) return;
  aclrtEvent never = nullptr;
  RW_CHECK_EQ(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC), ACL_SUCCESS);
  for (size_t i = 0; i < streams.size(); ++i) {
    RW_CHECK_EQ(aclrtStreamWaitEvent(streams[i], never), ACL_SUCCESS);
    set_pieces(i);
  }
  CheckIdle("streams that wait for an event");
}

void All() {
  process_test::ExpectClean("idle");
  process_test::ExpectClean("idle", {{"ROPEWAY_SCHEDULE", "latest"}});
  process_test::ExpectClean("idle", {{"ROPEWAY_SCHEDULE", "random:7"}});
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"idle", &Run}}); }
