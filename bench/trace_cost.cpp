// What trace_cost.sh runs, traced and not: COUNT copies of 4 KiB, pinned, in one stream, and then an end of the given kind.
//
//   trace_cost COUNT END COUNTER    END: exit, _exit, abort, segv, term, or kill (in the middle of more copies)
//
// Prints the nanoseconds of a submit: the median of stretches of 1000, each of which begins with an empty stream. The file COUNTER has, as
// eight bytes, how many submits had returned when the process ended, however it did.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kBlock = 4096;
constexpr uint64_t kStretch = 1000;

void Must(int code) {
  if (code == 0) return;
  std::fprintf(stderr, "refused: %d %s\n", code, aclGetRecentErrMsg());
  std::exit(1);
}

struct Work {
  Work() {
    Must(aclrtSetDevice(0));
    Must(aclrtCreateStream(&stream));
    Must(aclrtMallocHost(&host, kBlock));
    Must(aclrtMalloc(&device, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  void Submit() const { Must(aclrtMemcpyAsync(device, kBlock, host, kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream)); }
  aclrtStream stream = nullptr;
  void *host = nullptr, *device = nullptr;
};

double Stretch(const Work& work, uint64_t copies, std::atomic<uint64_t>& done) {
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < copies; ++i) work.Submit();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  done += copies;
  Must(aclrtSynchronizeStream(work.stream));
  return took.count() / static_cast<double>(copies);
}

std::atomic<uint64_t>& Counter(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  Must(ftruncate(file, sizeof(uint64_t)));
  void* const page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return *static_cast<std::atomic<uint64_t>*>(page);
}

void KilledAtWork(const Work& work, std::atomic<uint64_t>& done) {
  const uint64_t enough = done + 100 * kStretch;
  std::thread([&done, enough] {
    while (done < enough) std::this_thread::yield();
    kill(getpid(), SIGKILL);
  }).detach();
  for (;; ++done) work.Submit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Work work;
  std::atomic<uint64_t>& done = Counter(argv[3]);
  std::vector<double> each;
  for (uint64_t left = std::strtoull(argv[1], nullptr, 10); left > 0; left -= std::min(left, kStretch))
    each.push_back(Stretch(work, std::min(left, kStretch), done));
  std::nth_element(each.begin(), each.begin() + static_cast<long>(each.size() / 2), each.end());
  std::printf("%.1f\n", each[each.size() / 2]);
  std::fflush(stdout);
  const char* const end = argv[2];
  if (std::strcmp(end, "_exit") == 0) _exit(0);
  if (std::strcmp(end, "abort") == 0) abort();
  if (std::strcmp(end, "segv") == 0) *static_cast<volatile char*>(work.device) = 1;
  if (std::strcmp(end, "term") == 0) raise(SIGTERM);
  if (std::strcmp(end, "kill") == 0) KilledAtWork(work, done);
  return 0;
}
