// What a library that keeps a KV cache does all day: it swaps thousands of small blocks between a device pool and a
// pinned host pool. The blocks lie scattered on both sides, so one batch call names them all. Beside the batch: the
// same blocks by a loop of single copies, and by a raw loop of memcpy between two host pools.
//
//   source build/cann/set_env.sh
//   g++ -std=c++17 -O2 kv_offload.cpp -o kv_offload -lascendcl && ./kv_offload
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "acl/acl.h"

constexpr size_t kBlock = 16 << 10;
constexpr size_t kBlocks = 4096;           // of one swap
constexpr size_t kPoolBytes = 256u << 20;  // each side: far more than a last-level cache, so that blocks are cold
constexpr size_t kSlots = kPoolBytes / kBlock;
constexpr int kRounds = 9;

static void Check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s\n", call, code, text != nullptr ? text : "(no message)");
  std::exit(1);
}
#define CHECK(call) Check((call), #call)

// Memory that blocks are swapped in and out of, and host memory with the same bytes: the same memory on the host, a copy of the
// device's. memcpy works on the latter.
struct Pool {
  char* address;
  char* bytes;

  bool on_device() const { return address != bytes; }
  void Upload() const {
    if (on_device()) CHECK(aclrtMemcpy(address, kPoolBytes, bytes, kPoolBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  void Download() const {
    if (on_device()) CHECK(aclrtMemcpy(bytes, kPoolBytes, address, kPoolBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  }
};

// One swap: block i of the source goes to block i of the destination, through a block table on either side.
struct Swap {
  Pool dst, src;
  bool to_device;
  std::vector<void*> dsts, srcs;
  std::vector<size_t> dst_offsets, src_offsets;
  std::vector<size_t> sizes = std::vector<size_t>(kBlocks, kBlock);

  // The tables of the round: every round takes other blocks, so that the whole pools go by.
  void ChooseBlocks(const std::vector<size_t>& dst_slots, const std::vector<size_t>& src_slots, size_t round) {
    dsts.clear(), srcs.clear(), dst_offsets.clear(), src_offsets.clear();
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t at = (round * kBlocks + i) % kSlots;
      dst_offsets.push_back(dst_slots[at] * kBlock);
      src_offsets.push_back(src_slots[at] * kBlock);
      dsts.push_back(dst.address + dst_offsets[i]);
      srcs.push_back(src.address + src_offsets[i]);
    }
  }
};

static void ByBatch(Swap& swap, aclrtStream stream) {
  const aclrtMemLocation host = {0, ACL_MEM_LOCATION_TYPE_HOST}, device = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc = swap.to_device ? device : host;
  attribute.srcLoc = swap.to_device ? host : device;
  size_t first_item = 0, failed = 0;
  CHECK(aclrtMemcpyBatchAsync(swap.dsts.data(), swap.sizes.data(), swap.srcs.data(), swap.sizes.data(), kBlocks, &attribute, &first_item, 1,
                              &failed, stream));
  CHECK(aclrtSynchronizeStream(stream));
}

static void ByLoop(Swap& swap, aclrtStream stream) {
  const aclrtMemcpyKind kind = swap.to_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  for (size_t i = 0; i < kBlocks; ++i) {
    CHECK(aclrtMemcpyAsync(swap.dsts[i], kBlock, swap.srcs[i], kBlock, kind, stream));
  }
  CHECK(aclrtSynchronizeStream(stream));
}

static void ByMemcpy(Swap& swap, aclrtStream) {
  for (size_t i = 0; i < kBlocks; ++i) {
    std::memcpy(swap.dst.bytes + swap.dst_offsets[i], swap.src.bytes + swap.src_offsets[i], kBlock);
  }
}

// Every byte of every block, and every block of the destination that was not meant.
static bool Arrived(const Swap& swap) {
  std::vector<bool> meant(kSlots);
  for (size_t i = 0; i < kBlocks; ++i) {
    meant[swap.dst_offsets[i] / kBlock] = true;
    const char* arrived = swap.dst.bytes + swap.dst_offsets[i];
    if (std::memcmp(arrived, swap.src.bytes + swap.src_offsets[i], kBlock) != 0) return false;
  }
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const char* block = swap.dst.bytes + slot * kBlock;  // zeros: equal to themselves shifted by one
    if (!meant[slot] && (block[0] != 0 || std::memcmp(block, block + 1, kBlock - 1) != 0)) return false;
  }
  return true;
}

static std::vector<size_t> BlockTable(unsigned seed) {
  std::vector<size_t> slots(kSlots);
  std::iota(slots.begin(), slots.end(), size_t{0});
  std::shuffle(slots.begin(), slots.end(), std::mt19937(seed));
  return slots;
}

static void FillWithPattern(Pool pool, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t at = 0; at < kPoolBytes; at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(pool.bytes + at, &word, sizeof(word));
  }
  pool.Upload();
}

// Verifies each way of swapping once, then lets them take turns and prints the medians.
static void Compare(const char* direction, Swap swap, aclrtStream stream) {
  using Clock = std::chrono::steady_clock;
  void (*const ways[])(Swap&, aclrtStream) = {ByBatch, ByLoop, ByMemcpy};
  const std::vector<size_t> dst_slots = BlockTable(1), src_slots = BlockTable(2);
  std::vector<double> rates[3];  // GB/s
  FillWithPattern(swap.src, swap.to_device);
  for (const auto way : ways) {
    std::memset(swap.dst.bytes, 0, kPoolBytes);
    swap.dst.Upload();
    swap.ChooseBlocks(dst_slots, src_slots, 0);
    way(swap, stream);
    if (way != ByMemcpy) swap.dst.Download();
    if (!Arrived(swap)) {
      std::printf("%s: the bytes differ\n", direction);
      std::exit(1);
    }
  }
  for (size_t turn = 0; turn < 3 * kRounds; ++turn) {
    swap.ChooseBlocks(dst_slots, src_slots, turn);
    const auto start = Clock::now();
    ways[turn % 3](swap, stream);
    rates[turn % 3].push_back(kBlocks * kBlock / std::chrono::duration<double>(Clock::now() - start).count() / 1e9);
  }
  for (auto& rate : rates) std::nth_element(rate.begin(), rate.begin() + kRounds / 2, rate.end());
  const double batch = rates[0][kRounds / 2], loop = rates[1][kRounds / 2], raw = rates[2][kRounds / 2];
  std::printf("%-16s  yes       %5.1f  %5.1f   %5.1f       %4.2fx      %4.2fx\n", direction, batch, loop, raw, batch / raw, loop / raw);
}

int main() {
  aclrtStream stream;
  void *block, *copy, *pinned;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMallocHost(&pinned, kPoolBytes));
  CHECK(aclrtMalloc(&block, kPoolBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost(&copy, kPoolBytes));
  const Pool host = {static_cast<char*>(pinned), static_cast<char*>(pinned)};
  const Pool device = {static_cast<char*>(block), static_cast<char*>(copy)};

  std::printf("%zu scattered blocks of %zu KiB between pools of %zu MiB; GB/s, medians of %d rounds\n\n", kBlocks, kBlock >> 10,
              kPoolBytes >> 20, kRounds);
  std::printf("direction         verified  batch   loop  memcpy  batch/memcpy  loop/memcpy\n");
  Compare("host to device", Swap{device, host, true, {}, {}, {}, {}}, stream);
  Compare("device to host", Swap{host, device, false, {}, {}, {}, {}}, stream);

  CHECK(aclrtFree(block));
  CHECK(aclrtFreeHost(copy));
  CHECK(aclrtFreeHost(pinned));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
}
