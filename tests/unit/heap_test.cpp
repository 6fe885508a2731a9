// Heap: accounting, what may be freed, and that no two live blocks share a byte, whatever is queued.
#include "memory/heap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace heap_test {

constexpr size_t kMiB = size_t{1} << 20;

class HeapTest : public testing::Test {
 protected:
  static constexpr size_t kWindow = 256 * kMiB;
  static constexpr size_t kCapacity = 100 * kMiB;

  void SetUp() override {
    void* base = engine_->memory().ReserveDevices(kWindow, kWindow, 0);
    ASSERT_NE(base, nullptr);
    ASSERT_TRUE(map_.Init(base, kWindow));
    heap_ = std::make_unique<Heap>(*engine_, map_, map_.base(), kWindow, kCapacity, 5);
  }
  // The runtime rounds all sizes to 32 bytes.
  std::optional<void*> Allocate(size_t size, size_t alignment = kGranuleBytes) {
    EXPECT_EQ(size % 32, 0u);
    HeapRequest request;
    request.reserved = size;
    request.alignment = alignment;
    request.call = "test";
    return heap_->Allocate(request);
  }
  static void* Plus(void* address, size_t offset) { return static_cast<char*>(address) + offset; }

  std::unique_ptr<Engine> engine_ = cpu::CreateCpuEngine(SmallConfig({"Heap", ScheduleKind::kFast, 1, 0}));
  AddressMap map_;
  std::unique_ptr<Heap> heap_;
};

TEST_F(HeapTest, OnlyAPoolFreesItsBlocks) {
  HeapRequest request;
  request.reserved = 2 * kMiB;
  request.pool = this;
  request.call = "first";
  auto block = heap_->Allocate(request);
  ASSERT_TRUE(block);
  EXPECT_EQ(map_.Find(*block).pool, this);
  EXPECT_FALSE(heap_->Free(*block)) << "somebody else's";
  heap_->Hide(*block);
  EXPECT_FALSE(map_.Find(*block).found());
  EXPECT_LE(map_.RoomAt(*block), 0);
  EXPECT_EQ(heap_->usage().bytes, 2 * kMiB) << "hidden is not free";
  heap_->Show(*block, "second", nullptr);
  EXPECT_STREQ(map_.Find(*block).call, "second");
  EXPECT_EQ(map_.RoomAt(*block), static_cast<ptrdiff_t>(2 * kMiB));
  heap_->Hide(*block);
  EXPECT_TRUE(heap_->Free(*block, true)) << "hidden, too";
  EXPECT_EQ(heap_->usage().blocks, 0u);
  auto plain = Allocate(96);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(heap_->Free(*plain, true)) << "not the pool's";
  EXPECT_TRUE(heap_->Free(*plain));
}

TEST_F(HeapTest, ChargesCountAsBlocks) {
  auto block = Allocate(32);
  ASSERT_TRUE(block);
  ASSERT_TRUE(heap_->Charge(kCapacity - 64));
  EXPECT_EQ(heap_->usage().blocks, 2u);
  EXPECT_EQ(heap_->usage().bytes, kCapacity - 32);
  EXPECT_EQ(heap_->usage().peak_bytes, kCapacity - 32);
  EXPECT_FALSE(heap_->Charge(64));
  EXPECT_FALSE(Allocate(64));
  heap_->FreeAll();
  EXPECT_EQ(heap_->usage().bytes, kCapacity - 64) << "a charge is given back by whoever made it";
  heap_->Refund(kCapacity - 64);
  EXPECT_EQ(heap_->usage().blocks, 0u);
  EXPECT_EQ(heap_->usage().bytes, 0u);
}

TEST_F(HeapTest, CountsWhatIsReserved) {
  EXPECT_EQ(heap_->usage().bytes, 0u);
  EXPECT_EQ(heap_->usage().capacity, kCapacity);
  auto small = Allocate(96);
  auto large = Allocate(5 * kMiB + 32);
  ASSERT_TRUE(small && large);
  Heap::Usage usage = heap_->usage();
  EXPECT_EQ(usage.blocks, 2u);
  EXPECT_EQ(usage.bytes, 96 + 5 * kMiB + 32) << "rounding of addresses is not accounted for";
  EXPECT_TRUE(heap_->Free(*large));
  usage = heap_->usage();
  EXPECT_EQ(usage.blocks, 1u);
  EXPECT_EQ(usage.bytes, 96u);
  EXPECT_EQ(usage.peak_bytes, 96 + 5 * kMiB + 32);
  EXPECT_TRUE(heap_->Free(*small));
  EXPECT_EQ(heap_->usage().bytes, 0u);
}

TEST_F(HeapTest, BlocksAreAlignedAndDescribed) {
  for (size_t size : {size_t{32}, size_t{512}, size_t{4128}, kMiB, kMiB + 32, 3 * kMiB}) {
    auto block = Allocate(size);
    ASSERT_TRUE(block) << size;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*block) % kGranuleBytes, 0u);
    if (size > kMiB) EXPECT_EQ(reinterpret_cast<uintptr_t>(*block) % (2 * kMiB), 0u) << size;
    const BlockInfo info = map_.Find(Plus(*block, size - 1));
    EXPECT_EQ(info.base, reinterpret_cast<uintptr_t>(*block));
    EXPECT_EQ(info.size, size);
    EXPECT_EQ(info.device, 5);
    EXPECT_STREQ(info.call, "test");
    EXPECT_FALSE(map_.Find(Plus(*block, size)).found()) << size;
  }
  auto aligned = Allocate(4096, 65536);
  ASSERT_TRUE(aligned);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*aligned) % 65536, 0u);
  heap_->FreeAll();
}

TEST_F(HeapTest, OnlyTheStartOfALiveBlockCanBeFreed) {
  for (size_t size : {size_t{4096}, 4 * kMiB}) {
    auto block = Allocate(size);
    ASSERT_TRUE(block);
    EXPECT_FALSE(heap_->Free(Plus(*block, 1)));
    EXPECT_FALSE(heap_->Free(Plus(*block, 512)));
    EXPECT_FALSE(heap_->Free(Plus(*block, size)));
    EXPECT_FALSE(heap_->Free(nullptr));
    EXPECT_EQ(heap_->usage().blocks, 1u);
    EXPECT_TRUE(heap_->Free(*block));
    EXPECT_FALSE(heap_->Free(*block)) << "freed twice";
    EXPECT_FALSE(map_.Find(*block).found());
  }
}

TEST_F(HeapTest, TheCapacityIsTheLimit) {
  auto most = Allocate(kCapacity - 992);
  ASSERT_TRUE(most);
  EXPECT_FALSE(Allocate(1024));
  auto rest = Allocate(992);
  EXPECT_TRUE(rest);
  EXPECT_FALSE(Allocate(32));
  EXPECT_FALSE(Allocate(SIZE_MAX - 31));
  EXPECT_TRUE(heap_->Free(*most));
  EXPECT_TRUE(Allocate(kCapacity - 992));
  heap_->FreeAll();
}

TEST_F(HeapTest, FreedAddressesComeBack) {
  for (int round = 0; round < 1000; ++round) {
    auto large = Allocate(90 * kMiB);
    ASSERT_TRUE(large) << round;
    ASSERT_TRUE(heap_->Free(*large));
    std::vector<void*> small;
    for (int i = 0; i < 20; ++i) small.push_back(Allocate(100000).value());
    for (void* block : small) ASSERT_TRUE(heap_->Free(block));
  }
}

TEST_F(HeapTest, FreeAllLeavesNothing) {
  std::set<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.insert(Allocate(static_cast<size_t>(32 + i * 9984)).value());
  heap_->FreeAll();
  EXPECT_EQ(heap_->usage().blocks, 0u);
  EXPECT_EQ(heap_->usage().bytes, 0u);
  for (void* block : blocks) EXPECT_FALSE(map_.Find(block).found());
}

TEST_F(HeapTest, ReusedMemoryOfLargeBlocksIsZeroAgain) {
  auto block = Allocate(4 * kMiB);
  auto* bytes = static_cast<unsigned char*>(engine_->memory().HostView(*block, 1));
  memset(bytes, 0xAB, 4 * kMiB);
  heap_->Free(*block);
  auto again = Allocate(4 * kMiB);
  ASSERT_EQ(again, block);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[4 * kMiB - 1], 0);
  heap_->FreeAll();
}

TEST_F(HeapTest, BlocksNeverOverlapOverRandomOperations) {
  constexpr int kSteps = 100000;
  constexpr uint32_t kSeed = 20261115;
  std::mt19937 random(kSeed);
  std::map<uintptr_t, size_t> live;
  std::vector<uintptr_t> bases;
  size_t bytes = 0;
  auto free_one = [&](size_t index) {
    std::swap(bases[index], bases.back());
    ASSERT_TRUE(heap_->Free(reinterpret_cast<void*>(bases.back())));
    bytes -= live[bases.back()];
    live.erase(bases.back());
    bases.pop_back();
  };
  for (int step = 0; step < kSteps; ++step) {
    if (random() % 100 < 52) {
      const size_t kind = random() % 100;
      const size_t size = 32 * (1 + (kind < 80 ? random() % 128 : kind < 98 ? random() % 9600 : random() % 163840));
      auto block = Allocate(size);
      if (!block) {
        ASSERT_GT(bytes + size, kCapacity) << "refused although there is room, step " << step;
        while (bases.size() > 20) free_one(random() % bases.size());
        continue;
      }
      const auto base = reinterpret_cast<uintptr_t>(*block);
      auto next = live.lower_bound(base);
      ASSERT_TRUE(next == live.end() || base + size <= next->first) << "step " << step << " seed " << kSeed;
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= base) << "step " << step;
      live[base] = size;
      bases.push_back(base);
      bytes += size;
    } else if (!bases.empty()) {
      free_one(random() % bases.size());
    }
    if (step % 100 == 0 && !bases.empty()) {
      const uintptr_t base = bases[random() % bases.size()];
      const BlockInfo info = map_.Find(reinterpret_cast<void*>(base + random() % live[base]));
      ASSERT_EQ(info.base, base);
      ASSERT_EQ(info.size, live[base]);
    }
  }
  EXPECT_EQ(heap_->usage().blocks, live.size());
  EXPECT_EQ(heap_->usage().bytes, bytes);
  heap_->FreeAll();
}

TEST_F(HeapTest, AnAddressIsReusedOnlyBehindTheWorkThatWasQueuedAtTheFree) {
  FailureScope scope;
  Gate gate;
  CountingMarker marker;
  TestStream stream(&scope);
  for (size_t size : {size_t{4096}, 4 * kMiB}) {
    gate.Close();
    auto block = Allocate(size);
    ASSERT_TRUE(stream.Submit(AwaitTask(&gate, &marker)).ok());
    ASSERT_TRUE(heap_->Free(*block));
    EXPECT_FALSE(map_.Find(*block).found()) << "freed at once for every later call";
    EXPECT_EQ(heap_->usage().bytes, 0u);
    for (int i = 0; i < 10; ++i) EXPECT_NE(Allocate(size), block);
    gate.Open();
    ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
    heap_->FreeAll();
    bool reused = false;
    for (int i = 0; i < 12 && !reused; ++i) reused = Allocate(size) == block;
    EXPECT_TRUE(reused) << size;
    heap_->FreeAll();
  }
}

TEST_F(HeapTest, WorkQueuedBehindTheFreeDoesNotKeepTheAddress) {
  FailureScope scope;
  Gate gate;
  CountingMarker marker;
  TestStream stream(&scope);
  auto block = Allocate(4096);
  ASSERT_TRUE(heap_->Free(*block));
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate, &marker)).ok());
  EXPECT_EQ(Allocate(4096), block);
  gate.Open();
  heap_->FreeAll();
}

TEST_F(HeapTest, ThreadsMayAllocateAndFreeTogether) {
  std::atomic<int> overlaps{0};
  auto work = [&](uint32_t seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 2000; ++round) {
      const size_t size = 32 * (1 + random() % (random() % 10 == 0 ? 65536 : 256));
      auto block = Allocate(size);
      if (!block) continue;
      auto* bytes = static_cast<unsigned char*>(engine_->memory().HostView(*block, 1));
      bytes[0] = bytes[size - 1] = static_cast<unsigned char>(seed);
      std::this_thread::yield();
      overlaps += bytes[0] != seed || bytes[size - 1] != seed;
      EXPECT_TRUE(heap_->Free(*block));
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(heap_->usage().blocks, 0u);
}

}  // namespace heap_test
}  // namespace ropeway_unit
