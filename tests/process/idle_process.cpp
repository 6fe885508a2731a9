// An idle process uses no CPU, however many streams it has. Idleness is the subject, so this one waits for a timer.
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
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
  AwaitTimer(100);  // workers may linger a little after their last task
  double before = CpuSeconds();
  AwaitTimer(300);
  double used = CpuSeconds() - before;
  if (used > (RW_SANITIZED ? 0.1 : 0.005)) {
    process_test::Fail(__FILE__, __LINE__, std::string(when) + ": " + std::to_string(used) + " s of CPU in 0.3 s");
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
