// A program that copies for a long time and synchronises now and then: two streams that wait for each other by events, notifies and words,
// a function, a replay and a stream of its own every thousand copies, then a wait of the host. Tells its memory after every tenth.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kSize = 64, kBlocks = 4096, kBetween = 1000;

long ResidentKiB() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * 4;
}

void Nothing(void*) {}

}  // namespace

int main(int argc, char** argv) {
  const size_t copies = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000000;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream load = nullptr, store = nullptr;
  aclrtCreateStream(&load);
  aclrtCreateStream(&store);
  void *in = nullptr, *out = nullptr, *device = nullptr, *word = nullptr;
  aclrtMallocHost(&in, kBlocks * kSize);
  aclrtMallocHost(&out, kBlocks * kSize);
  aclrtMalloc(&device, kBlocks * kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtEvent loaded = nullptr;
  aclrtCreateEventExWithFlag(&loaded, ACL_EVENT_SYNC);
  aclrtNotify stored = nullptr;
  aclrtCreateNotify(&stored, ACL_NOTIFY_DEFAULT);
  aclmdlRI graph = nullptr;
  aclmdlRICaptureBegin(load, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  aclrtMemsetAsync(device, kSize, 1, kSize, load);
  aclmdlRICaptureEnd(load, &graph);
  const auto at = [](void* base, size_t number) { return static_cast<char*>(base) + number % kBlocks * kSize; };

  for (size_t done = 0, told = 0; done < copies; done += 2) {
    aclrtMemcpyAsync(at(device, done), kSize, at(in, done), kSize, ACL_MEMCPY_HOST_TO_DEVICE, load);
    aclrtRecordEvent(loaded, load);
    aclrtStreamWaitEvent(store, loaded);
    aclrtMemcpyAsync(at(out, done), kSize, at(device, done), kSize, ACL_MEMCPY_DEVICE_TO_HOST, store);
    if (done % kBetween != 0) continue;
    aclrtRecordNotify(stored, store);
    aclrtWaitAndResetNotify(stored, load, 0);
    aclrtValueWrite(word, done, 0, load);
    aclrtValueWait(word, done, ACL_STREAM_WAIT_VALUE_EQ, store);
    aclmdlRIExecuteAsync(graph, load);
    aclrtLaunchHostFunc(load, &Nothing, nullptr);
    aclrtSynchronizeStream(store);
    aclrtSynchronizeStream(load);
    aclrtStream passing = nullptr;
    aclrtCreateStream(&passing);
    aclrtMemcpyAsync(at(out, 0), kSize, at(device, 1), kSize, ACL_MEMCPY_DEVICE_TO_HOST, passing);
    aclrtDestroyStream(passing);
    if (done < told) continue;
    std::printf("%9zu copies  %ld KiB\n", done, ResidentKiB());
    told += copies / 10;
  }
  aclrtSynchronizeDevice();
  std::printf("%9zu copies  %ld KiB\n", copies, ResidentKiB());
  return 0;
}
