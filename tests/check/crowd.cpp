// What the layer has to live through: 2,000 threads that copy, a million live blocks, a child that goes on alone.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kSize = 64;

int Threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2000; ++i) {
    threads.emplace_back([] {
      aclrtSetDevice(0);
      aclrtStream stream = nullptr;
      void *host = nullptr, *device = nullptr;
      if (aclrtCreateStream(&stream) != ACL_SUCCESS) return;  // a device has 1984
      aclrtMallocHost(&host, kSize);
      aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
      for (int round = 0; round < 10; ++round) aclrtMemcpyAsync(device, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream);
      aclrtSynchronizeStream(stream);
      aclrtFree(device);
      aclrtFreeHost(host);
      aclrtDestroyStream(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int Blocks() {
  std::vector<void*> blocks(1000000);
  for (void*& block : blocks)
    if (aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  for (void* const block : blocks)
    if (aclrtMemsetAsync(block, kSize, 1, kSize, nullptr) != ACL_SUCCESS) return 1;
  aclrtSynchronizeStream(nullptr);
  for (void* const block : blocks) aclrtFree(block);
  return 0;
}

int Child() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  const int failed = Child() + Threads() + Blocks();
  std::puts(failed == 0 ? "done" : "failed");
  return failed;
}
