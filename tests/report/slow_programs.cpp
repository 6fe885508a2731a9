// slow_programs PATTERN: a program that is slow in one way. The line that the report has to name carries the pattern as its comment.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kKiB = 1 << 10, kMiB = 1 << 20, kSize = 32 * kMiB;

char *g_device, *g_pinned;
aclrtStream g_stream, g_other;

void Must(aclError code) {
  if (code == ACL_SUCCESS) return;
  std::printf("refused: %d %s\n", code, aclGetRecentErrMsg());
  std::exit(1);
}

void Begin() {
  Must(aclInit(nullptr));
  Must(aclrtSetDevice(0));
  Must(aclrtCreateStream(&g_stream));
  Must(aclrtCreateStream(&g_other));
  void *device = nullptr, *pinned = nullptr;
  Must(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  Must(aclrtMallocHost(&pinned, kSize));
  std::memset(pinned, 1, kSize);
  g_device = static_cast<char*>(device);
  g_pinned = static_cast<char*>(pinned);
}

void PageableCopies() {
  static std::vector<char> buffer(4 * kMiB, 1);
  for (size_t i = 0; i < buffer.size(); i += 4 * kKiB) {
    Must(aclrtMemcpyAsync(g_device + i, 4 * kKiB, &buffer[i], 4 * kKiB, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));  // pageable
    Must(aclrtSynchronizeStream(g_stream));
  }
}

void SynchronousCopies() {
  for (int i = 0; i < 100; ++i) {
    Must(aclrtMemcpy(g_device, kMiB, g_pinned, kMiB, ACL_MEMCPY_HOST_TO_DEVICE));  // synchronous
  }
}

void WaitBehindEach() {
  for (int i = 0; i < 500; ++i) {
    Must(aclrtMemcpyAsync(g_device, 256 * kKiB, g_pinned, 256 * kKiB, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));
    Must(aclrtSynchronizeStream(g_stream));  // wait-behind-each
  }
}

void SmallCopies() {
  for (size_t i = 0; i < 10000; ++i) {
    const size_t at = i * kKiB;
    Must(aclrtMemcpyAsync(g_device + at, kKiB, g_pinned + at, kKiB, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));  // small-copies
  }
  Must(aclrtSynchronizeStream(g_stream));
}

void SerialStreams() {
  aclrtEvent in = nullptr, out = nullptr;
  Must(aclrtCreateEventExWithFlag(&in, ACL_EVENT_SYNC));
  Must(aclrtCreateEventExWithFlag(&out, ACL_EVENT_SYNC));
  for (int i = 0; i < 20; ++i) {
    Must(aclrtMemcpyAsync(g_device, 8 * kMiB, g_pinned, 8 * kMiB, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));
    Must(aclrtRecordEvent(in, g_stream));
    Must(aclrtStreamWaitEvent(g_other, in));  // serial-streams
    Must(aclrtMemcpyAsync(g_pinned + 16 * kMiB, 8 * kMiB, g_device, 8 * kMiB, ACL_MEMCPY_DEVICE_TO_HOST, g_other));
    Must(aclrtRecordEvent(out, g_other));
    Must(aclrtStreamWaitEvent(g_stream, out));  // serial-streams
  }
  Must(aclrtSynchronizeStream(g_other));
}

void OneStream() {
  constexpr size_t kBlock = 8 * kMiB;
  constexpr aclrtMemcpyKind kIn = ACL_MEMCPY_HOST_TO_DEVICE, kOut = ACL_MEMCPY_DEVICE_TO_HOST;
  for (int i = 0; i < 20; ++i) {
    Must(aclrtMemcpyAsync(g_device, kBlock, g_pinned, kBlock, kIn, g_stream));                             // one-stream
    Must(aclrtMemcpyAsync(g_pinned + 2 * kBlock, kBlock, g_device + 2 * kBlock, kBlock, kOut, g_stream));  // one-stream
  }
  Must(aclrtSynchronizeStream(g_stream));
}

void MemoryInLoop() {
  for (int i = 0; i < 100; ++i) {
    void* buffer = nullptr;
    Must(aclrtMallocHost(&buffer, kMiB));  // memory-in-loop
    Must(aclrtMemcpyAsync(g_device, kMiB, buffer, kMiB, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));
    Must(aclrtSynchronizeStream(g_stream));
    Must(aclrtFreeHost(buffer));
  }
}

void HostFunctions() {
  for (int i = 0; i < 20; ++i) {
    Must(aclrtMemcpyAsync(g_device, kMiB, g_pinned, kMiB, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));
    const aclrtHostFunc sum = [](void*) {
      static std::atomic<uint64_t> result{0};
      for (size_t at = 0; at < 4 * kMiB; ++at) result.fetch_add(static_cast<unsigned char>(g_pinned[at]), std::memory_order_relaxed);
    };
    Must(aclrtLaunchHostFunc(g_stream, sum, nullptr));  // host-function
  }
  Must(aclrtSynchronizeStream(g_stream));
}

void SmallRows() {
  for (int i = 0; i < 20; ++i) {
    Must(aclrtMemcpy2dAsync(g_device, 64, g_pinned, 64, 16, 100000, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));  // small-rows
  }
  Must(aclrtSynchronizeStream(g_stream));
}

// Another stream's copy is what the wait is for, and it comes late.
void ValueWaits() {
  for (uint64_t i = 1; i <= 20; ++i) {
    Must(aclrtValueWait(g_device, i, ACL_STREAM_WAIT_VALUE_GEQ, g_stream));  // value-wait
    Must(aclrtMemcpyAsync(g_device + 64, 64, g_pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));
    Must(aclrtMemcpyAsync(g_device + 16 * kMiB, 8 * kMiB, g_pinned, 8 * kMiB, ACL_MEMCPY_HOST_TO_DEVICE, g_other));
    Must(aclrtValueWrite(g_device, i, 0, g_other));
  }
  Must(aclrtSynchronizeStream(g_stream));
}

struct Pattern {
  const char* name;
  void (*run)();
};
constexpr Pattern kPatterns[] = {{"pageable", PageableCopies},     {"synchronous", SynchronousCopies}, {"wait-behind-each", WaitBehindEach},
                                 {"small-copies", SmallCopies},    {"serial-streams", SerialStreams},  {"one-stream", OneStream},
                                 {"memory-in-loop", MemoryInLoop}, {"host-function", HostFunctions},   {"small-rows", SmallRows},
                                 {"value-wait", ValueWaits}};

}  // namespace

int main(int argc, char** argv) {
  for (const Pattern& pattern : kPatterns) {
    if (argc < 2) std::puts(pattern.name);
    if (argc < 2 || std::string(argv[1]) != pattern.name) continue;
    Begin();
    pattern.run();
    Must(aclFinalize());
    return 0;
  }
  return argc < 2 ? 0 : 2;
}
