// A paged KV cache that takes only the memory it needs: one range of addresses for good, and 2 MiB pages of device
// memory mapped into it when requests come and given back when they go. Blocks keep their addresses as long as they
// live, so block tables never change, and copies run over page borders. Every byte is verified before its request ends.
// Where the library has no virtual memory, the pool takes all of its memory at once.
//
//   source build/cann/set_env.sh
//   g++ -std=c++17 -O2 kv_pool.cpp -o kv_pool -lascendcl && ./kv_pool
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "acl/acl.h"

constexpr size_t kPage = 2u << 20;
constexpr size_t kBlock = 48u << 10;        // of one token group; does not divide a page, so that some blocks lie in two
constexpr size_t kAddresses = 64ull << 30;  // as much as the cache could ever hold; costs nothing
constexpr size_t kFixedBytes = 256u << 20;  // of a pool that cannot grow

static void Check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s\n", call, code, text != nullptr ? text : "(no message)");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

class KvPool {
 public:
  KvPool() {
    void* base;
    const aclError reserved = aclrtReserveMemAddress(&base, kAddresses, 0, nullptr, 0);
    fixed_ = reserved == ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    CHECK(fixed_ ? aclrtMalloc(&base, kFixedBytes, ACL_MEM_MALLOC_HUGE_FIRST) : reserved);
    base_ = static_cast<char*>(base);
  }
  ~KvPool() {
    while (!pages_.empty()) Unmap(pages_.begin()->first);
    CHECK(fixed_ ? aclrtFree(base_) : aclrtReleaseMemAddress(base_));
  }

  char* at(size_t block) const { return base_ + block * kBlock; }
  size_t mapped_bytes() const { return pages_.size() * kPage; }

  // The lowest free block, so that the pool stays dense; its pages are mapped now if they are not.
  size_t Take() {
    const size_t block = free_.empty() ? end_++ : *free_.begin();
    if (fixed_ && (block + 1) * kBlock > kFixedBytes) Check(ACL_ERROR_RT_MEMORY_ALLOCATION, "KvPool::Take");
    free_.erase(block);
    for (size_t page = FirstPage(block); page <= LastPage(block); ++page) {
      if (pages_.count(page) == 0) Map(page);
      ++pages_[page].blocks;
    }
    return block;
  }

  // Pages without a block go back to the device. Work that is queued on them still runs: the library sees to that.
  void Give(size_t block) {
    free_.insert(block);
    for (size_t page = FirstPage(block); page <= LastPage(block); ++page) {
      if (--pages_[page].blocks == 0) Unmap(page);
    }
  }

 private:
  struct Page {
    aclrtDrvMemHandle memory;
    size_t blocks;
  };
  static size_t FirstPage(size_t block) { return block * kBlock / kPage; }
  static size_t LastPage(size_t block) { return ((block + 1) * kBlock - 1) / kPage; }

  void Map(size_t page) {
    aclrtDrvMemHandle memory = nullptr;
    if (!fixed_) memory = MapMemory(base_ + page * kPage);
    pages_[page] = Page{memory, 0};
  }
  static aclrtDrvMemHandle MapMemory(char* address) {
    aclrtPhysicalMemProp prop = {};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.id = 0;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle memory;
    CHECK(aclrtMallocPhysical(&memory, kPage, &prop, 0));
    CHECK(aclrtMapMem(address, kPage, 0, memory, 0));
    return memory;
  }
  void Unmap(size_t page) {
    if (!fixed_) {
      CHECK(aclrtUnmapMem(base_ + page * kPage));
      CHECK(aclrtFreePhysical(pages_[page].memory));
    }
    pages_.erase(page);
  }

  char* base_;
  bool fixed_;
  std::map<size_t, Page> pages_;
  std::set<size_t> free_;
  size_t end_ = 0;  // blocks from here on were never used
};

struct Request {
  uint32_t id;
  std::vector<size_t> blocks;  // its block table
};

// What stands in block `index` of a request.
static void Fill(char* bytes, uint32_t id, size_t index) {
  std::mt19937 words(id * 1000003u + static_cast<uint32_t>(index));
  for (size_t i = 0; i < kBlock; i += 4) {
    const uint32_t word = words();
    std::memcpy(bytes + i, &word, 4);
  }
}

static void Grow(KvPool& pool, Request& request, size_t blocks, char* staging, aclrtStream stream) {
  for (size_t i = 0; i < blocks; ++i) {
    Fill(staging, request.id, request.blocks.size());
    request.blocks.push_back(pool.Take());
    CHECK(aclrtMemcpyAsync(pool.at(request.blocks.back()), kBlock, staging, kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtSynchronizeStream(stream));  // the staging buffer is used again
  }
}

static bool End(KvPool& pool, Request& request, char* staging, aclrtStream stream) {
  std::vector<char> expected(kBlock);
  bool good = true;
  for (size_t i = 0; i < request.blocks.size(); ++i) {
    CHECK(aclrtMemcpyAsync(staging, kBlock, pool.at(request.blocks[i]), kBlock, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclrtSynchronizeStream(stream));
    Fill(expected.data(), request.id, i);
    good = good && std::memcmp(staging, expected.data(), kBlock) == 0;
  }
  for (size_t block : request.blocks) pool.Give(block);
  return good;
}

static void Report(const char* when, const KvPool& pool, size_t requests) {
  size_t free_bytes, total;
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
  std::printf("%-22s %8zu requests  %6zu MiB of pages  %6zu MiB of the device in use\n", when, requests, pool.mapped_bytes() >> 20,
              (total - free_bytes) >> 20);
}

int main() {
  aclrtStream stream;
  void* pinned;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMallocHost(&pinned, kBlock));
  char* const staging = static_cast<char*>(pinned);
  bool good = true;
  {
    KvPool pool;
    std::mt19937 random(7);
    std::vector<Request> running;
    uint32_t next_id = 1;
    Report("at first", pool, 0);
    for (const size_t wanted : {24u, 8u, 40u, 0u}) {  // the load rises and falls
      while (running.size() > wanted) {
        const size_t which = random() % running.size();
        good = End(pool, running[which], staging, stream) && good;
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
      while (running.size() < wanted) running.push_back({next_id++, {}});
      for (Request& request : running) Grow(pool, request, 4 + random() % 16, staging, stream);
      Report(wanted == 0 ? "when all are done" : "under load", pool, running.size());
    }
    good = good && pool.mapped_bytes() == 0;
  }
  std::printf("%s\n", good ? "every block verified" : "the bytes differ");
  CHECK(aclrtFreeHost(pinned));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return good ? 0 : 1;
}
