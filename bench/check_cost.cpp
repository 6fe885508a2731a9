// What `ropeway check` adds to a submit: 1,000 copies of 64 bytes, or a batch of as many, synchronised after each round; the best round
// counts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "acl/acl.h"

int main(int argc, char** argv) {
  const bool batch = argc > 1 && std::strcmp(argv[1], "batch") == 0;
  constexpr size_t kBlocks = 1000, kSize = 64, kPitch = 128;
  constexpr int kRounds = 500;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  void *host = nullptr, *device = nullptr;
  aclrtMallocHost(&host, kBlocks * kPitch);
  aclrtMalloc(&device, kBlocks * kPitch, ACL_MEM_MALLOC_HUGE_FIRST);
  std::vector<void*> to(kBlocks), from(kBlocks);
  std::vector<size_t> sizes(kBlocks, kSize);
  for (size_t i = 0; i < kBlocks; ++i) {
    to[i] = static_cast<char*>(device) + i * kPitch;
    from[i] = static_cast<char*>(host) + i * kPitch;
  }
  aclrtMemcpyBatchAttr places{};
  places.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  places.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  size_t first = 0, failed = 0;
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    if (batch) {
      aclrtMemcpyBatchAsync(to.data(), sizes.data(), from.data(), sizes.data(), kBlocks, &places, &first, 1, &failed, stream);
    } else {
      for (size_t i = 0; i < kBlocks; ++i) aclrtMemcpyAsync(to[i], kSize, from[i], kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / kBlocks);
    aclrtSynchronizeStream(stream);
  }
  std::printf("%.1f\n", best);
  return 0;
}
