// Streams that are held up by a value wait cost next to nothing: somebody may look at their words about a thousand
// times a second, all of them together, and nobody spins. When the last wait is over, nobody looks any more.
#include <sys/resource.h>

#include <chrono>

#include "acl/acl.h"
#include "tests/process/idleness.h"

namespace {

using process_test::Activity;
using process_test::LibraryActivity;

constexpr size_t kStreams = 20;

// 20 streams behind waits for one word, each with a task behind its wait.
struct Waiting {
  std::vector<aclrtStream> streams = std::vector<aclrtStream>(kStreams, nullptr);
  char* memory = nullptr;  // the word, and behind it one byte for every stream

  Waiting() {
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMalloc(reinterpret_cast<void**>(&memory), 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemset(memory, 64, 0, 64), ACL_SUCCESS);
    for (size_t i = 0; i < kStreams; ++i) {
      RW_CHECK_EQ(aclrtCreateStream(&streams[i]), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, streams[i]), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtMemsetAsync(memory + 8 + i, 1, 9, 1, streams[i]), ACL_SUCCESS);
    }
    // The late schedules have not come to the waits yet; a look at each stream takes them there.
    for (aclrtStream stream : streams) {
      RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    }
  }
};

struct Cost {
  double milliseconds, cpu_milliseconds;
  uint64_t switches;
  // Twice what one look per millisecond needs, and some for threads of ours that linger. A spinning thread takes all of
  // a CPU, or on a busy machine its share of one.
  bool Low() const { return switches <= 100 + 2 * milliseconds && cpu_milliseconds <= 0.2 * milliseconds; }
};

double CpuMilliseconds() {
  rusage usage{};
  RW_CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  auto ms = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3; };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

Cost Measure() {
  using Clock = std::chrono::steady_clock;
  const Activity before = LibraryActivity();
  const auto start = Clock::now();
  const double cpu = CpuMilliseconds();
  process_test::AwaitTimer(300);
  const double cpu_used = CpuMilliseconds() - cpu;
  const double elapsed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return {elapsed, cpu_used, LibraryActivity().switches - before.switches};
}

// Threads may linger a little after their last task, longer on a busy machine: only a cost that stays is a failure.
void CheckCost() {
  Cost cost{};
  for (int round = 0; round < 5; ++round) {
    cost = Measure();
    if (cost.Low()) return;
  }
  process_test::Fail(__FILE__, __LINE__,
                     "20 waiting streams: " + std::to_string(cost.switches) + " context switches and " +
                         std::to_string(cost.cpu_milliseconds) + " ms of CPU in " + std::to_string(cost.milliseconds) + " ms");
}

void Wait() {
  Waiting waiting;
  CheckCost();
  for (aclrtStream stream : waiting.streams) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    RW_CHECK_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
    RW_CHECK_EQ(static_cast<int>(status), static_cast<int>(ACL_STREAM_STATUS_NOT_READY));
  }
  // A copy that waits for no stream: whoever looks at the words has to see it.
  const uint64_t one = 1;
  RW_CHECK_EQ(aclrtMemcpy(waiting.memory, 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  for (aclrtStream stream : waiting.streams) RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  std::string marks(kStreams, '\0');
  RW_CHECK_EQ(aclrtMemcpy(marks.data(), kStreams, waiting.memory + 8, kStreams, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  RW_CHECK_EQ(marks, std::string(kStreams, '\x09'));
  process_test::CheckIdle("after the last value wait");
}

// Leaves main with the waits in place: exit neither waits for the values nor trips over them.
void Leave() { Waiting waiting; }

void All() {
  for (const char* schedule : {"fast", "latest", "random:7"}) {
    process_test::ExpectClean("wait", {{"ROPEWAY_SCHEDULE", schedule}});
    process_test::ExpectClean("leave", {{"ROPEWAY_SCHEDULE", schedule}});
  }
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"wait", &Wait}, {"leave", &Leave}}); }
