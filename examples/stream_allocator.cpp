// A program that offers its own pool of device memory, and a library that takes its workspace from whatever pool the stream's owner offers:
// the two know nothing of each other but the stream. Blocks come back to the pool and are used again, in the stream's order.
//
//   source build/cann/set_env.sh
//   g++ -std=c++17 -O2 stream_allocator.cpp -o stream_allocator -lascendcl && ./stream_allocator
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_allocator.h"

static void Check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s\n", call, code, text != nullptr ? text : "(no message)");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

// --- The program's side: a pool, and four functions of plain C for it ---------------------------------------------------

struct Block {
  void* address;
  size_t size;
};

class Pool {
 public:
  ~Pool() {
    for (auto& [size, block] : free_) {
      CHECK(aclrtFree(block->address));
      delete block;
    }
  }
  Block* Take(size_t size) {
    const auto found = free_.lower_bound(size);
    if (found != free_.end()) {
      Block* const block = found->second;
      free_.erase(found);
      ++reused;
      return block;
    }
    Block* const block = new Block{nullptr, size};
    CHECK(aclrtMalloc(&block->address, size, ACL_MEM_MALLOC_HUGE_FIRST));
    ++made;
    return block;
  }
  void Give(Block* block) { free_.emplace(block->size, block); }

  int made = 0, reused = 0;

 private:
  std::multimap<size_t, Block*> free_;
};

static void* Alloc(aclrtAllocator pool, size_t size) { return static_cast<Pool*>(pool)->Take(size); }
static void Free(aclrtAllocator pool, aclrtAllocatorBlock block) { static_cast<Pool*>(pool)->Give(static_cast<Block*>(block)); }
static void* Address(aclrtAllocatorBlock block) { return static_cast<Block*>(block)->address; }

static void Offer(Pool* pool, aclrtStream stream) {
  const aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
  CHECK(aclrtAllocatorSetObjToDesc(desc, pool));
  CHECK(aclrtAllocatorSetAllocFuncToDesc(desc, &Alloc));
  CHECK(aclrtAllocatorSetFreeFuncToDesc(desc, &Free));
  CHECK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, &Address));
  CHECK(aclrtAllocatorRegister(stream, desc));
  CHECK(aclrtAllocatorDestroyDesc(desc));  // the registration has a copy
}

// --- The library's side: it has a stream, and asks who allocates for it -------------------------------------------------

// Swaps two blocks by way of a workspace. The block goes back as soon as the work is queued: who gets it next works behind, on this stream.
static void Swap(void* one, void* other, size_t size, aclrtStream stream) {
  aclrtAllocatorDesc desc;
  aclrtAllocator allocator;
  aclrtAllocatorAllocFunc alloc;
  aclrtAllocatorFreeFunc free_block;
  aclrtAllocatorGetAddrFromBlockFunc address_of;
  CHECK(aclrtAllocatorGetByStream(stream, &desc, &allocator, &alloc, &free_block, nullptr, &address_of));
  const aclrtAllocatorBlock block = alloc(allocator, size);
  void* const workspace = address_of(block);
  CHECK(aclrtMemcpyAsync(workspace, size, one, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  CHECK(aclrtMemcpyAsync(one, size, other, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  CHECK(aclrtMemcpyAsync(other, size, workspace, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  free_block(allocator, block);
}

int main() {
  constexpr size_t kSize = 1 << 20;
  constexpr int kSwaps = 9;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream;
  CHECK(aclrtCreateStream(&stream));
  bool good = true;
  {
    Pool pool;
    Offer(&pool, stream);
    void *one, *other;
    CHECK(aclrtMalloc(&one, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&other, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(one, kSize, 1, kSize));
    CHECK(aclrtMemset(other, kSize, 2, kSize));
    for (int i = 0; i < kSwaps; ++i) Swap(one, other, kSize >> (i % 3), stream);
    CHECK(aclrtSynchronizeStream(stream));
    // The first quarter was swapped nine times, the second six times, the rest three times.
    std::vector<uint8_t> seen(kSize);
    CHECK(aclrtMemcpy(seen.data(), kSize, one, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < kSize; ++i) good = good && seen[i] == (i >= kSize / 4 && i < kSize / 2 ? 1 : 2);
    std::printf("%d swaps with %d block(s) of the pool, %d times used again: %s\n", kSwaps, pool.made, pool.reused,
                good ? "good" : "WRONG");
    good = good && pool.made == 1 && pool.reused == kSwaps - 1;
    CHECK(aclrtAllocatorUnregister(stream));
    CHECK(aclrtFree(one));
    CHECK(aclrtFree(other));
  }
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return good ? 0 : 1;
}
