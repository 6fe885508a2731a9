// A batch with two items for one block, of which the second is meant to win. There is no order inside a batch; with the argument "right" it
// is two batches.
#include <cstdio>
#include <cstring>

#include "acl/acl.h"

static void Load(void* device, void* const* sources, size_t count, size_t size, aclrtStream stream) {
  void* dsts[] = {device, device};
  void* srcs[] = {sources[0], sources[count - 1]};
  size_t sizes[] = {size, size}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, count, &attr, &first, 1, &failed, stream);
}

int main(int argc, char**) {
  constexpr size_t kSize = 4096;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void *sources[2] = {}, *result = nullptr, *device = nullptr;
  for (int i = 0; i < 2; ++i) {
    aclrtMallocHost(&sources[i], kSize);
    std::memset(sources[i], i, kSize);
  }
  aclrtMallocHost(&result, kSize);
  aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  if (argc > 1) {
    Load(device, sources, 1, kSize, stream);
    Load(device, sources + 1, 1, kSize, stream);
  } else {
    Load(device, sources, 2, kSize, stream);
  }
  aclrtMemcpyAsync(result, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream);
  aclrtSynchronizeStream(stream);
  const bool good = std::memcmp(result, sources[1], kSize) == 0;
  std::puts(good ? "good" : "wrong bytes");
  return good ? 0 : 1;
}
