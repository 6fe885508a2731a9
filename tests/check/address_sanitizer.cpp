// Copies of host memory that is not there any more, built with -fsanitize=address. The argument says which mistake is made, 0 none.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "acl/acl.h"

namespace {

constexpr size_t kSize = 4096;
constexpr size_t kMore = 64;

// Behind the back of the compiler, which sees some of these itself.
char* volatile hidden;
char* Freed() {
  hidden = static_cast<char*>(std::malloc(kSize));
  std::memset(hidden, 1, kSize);
  std::free(hidden);
  return hidden;
}

struct Device {
  Device() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    aclrtMalloc(&block, 2 * kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  }
  void Load(const void* from, size_t size) { aclrtMemcpyAsync(block, 2 * kSize, from, size, ACL_MEMCPY_HOST_TO_DEVICE, stream); }
  void LoadTwo(void* one, void* other) {
    void *dsts[] = {block, static_cast<char*>(block) + kSize}, *srcs[] = {one, other};
    size_t sizes[] = {kSize, kSize}, first = 0, failed = 0;
    aclrtMemcpyBatchAttr attr = {};
    attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &first, 1, &failed, stream);
  }
  aclrtStream stream = nullptr;
  void* block = nullptr;
};

char* Pinned() {
  void* memory = nullptr;
  aclrtMallocHost(&memory, kSize);
  return static_cast<char*>(memory);
}

}  // namespace

int main(int, char** words) {
  const int mistake = std::atoi(words[1]);
  Device device;
  const auto heap = std::make_unique<char[]>(kSize);
  char stack[kSize] = {};
  // Freed memory comes back, and is as good as new.
  for (int i = 0; i < 50; ++i) {
    char* const pinned = Pinned();
    std::memset(pinned, i, kSize);
    device.Load(pinned, kSize);
    device.LoadTwo(heap.get(), stack);
    aclrtSynchronizeStream(device.stream);
    if (pinned[5] != i) return 3;
    aclrtFreeHost(pinned);
  }
  if (mistake == 1) device.Load(Freed(), kSize);
  if (mistake == 2) device.Load(heap.get(), kSize + kMore);
  if (mistake == 3) aclrtMemcpy(Freed(), kSize, device.block, kSize, ACL_MEMCPY_DEVICE_TO_HOST);
  if (mistake == 4) device.LoadTwo(heap.get(), Freed());
  if (mistake == 5 || mistake == 6) {
    hidden = Pinned();
    aclrtFreeHost(hidden);
    if (mistake == 5) device.Load(hidden, kSize);
    if (mistake == 6) hidden[1] = 2;  // for the sanitizer itself
  }
  return 0;
}
