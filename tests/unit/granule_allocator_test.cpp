// GranuleAllocator against a plain map of who has which granule.
#include "memory/granule_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace ropeway {
namespace granule_allocator_test {

constexpr uintptr_t kBase = uintptr_t{64} << 30;
constexpr size_t kGranules = kChunkBytes / kGranuleBytes;

uintptr_t ChunkAt(size_t index) { return kBase + index * kChunkBytes; }

TEST(GranuleAllocatorTest, NothingComesOfNothing) {
  GranuleAllocator granules;
  EXPECT_EQ(granules.Take(kGranuleBytes, kGranuleBytes, true), std::nullopt);
}

TEST(GranuleAllocatorTest, AChunkIsUsedUpToItsLastGranule) {
  GranuleAllocator granules;
  granules.AddChunk(ChunkAt(0));
  std::set<uintptr_t> taken;
  for (size_t i = 0; i < kGranules; ++i) {
    const auto base = granules.Take(kGranuleBytes, kGranuleBytes, false);
    ASSERT_TRUE(base);
    ASSERT_TRUE(taken.insert(*base).second);
  }
  EXPECT_EQ(*taken.begin(), ChunkAt(0));
  EXPECT_EQ(*taken.rbegin(), ChunkAt(1) - kGranuleBytes);
  EXPECT_EQ(granules.Take(kGranuleBytes, kGranuleBytes, true), std::nullopt);
  size_t left = taken.size();
  for (const uintptr_t base : taken) EXPECT_EQ(granules.Return(base, kGranuleBytes), --left == 0);
  granules.RemoveChunk(ChunkAt(0));
  EXPECT_EQ(granules.Take(kGranuleBytes, kGranuleBytes, true), std::nullopt);
}

TEST(GranuleAllocatorTest, RunsAreJoinedInBothDirectionsAndAcrossWords) {
  GranuleAllocator granules;
  granules.AddChunk(ChunkAt(0));
  constexpr size_t kThird = kChunkBytes / 4;
  std::vector<uintptr_t> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(granules.Take(kThird, kGranuleBytes, true).value());
  EXPECT_EQ(granules.Take(kGranuleBytes, kGranuleBytes, true), std::nullopt);
  granules.Return(parts[0], kThird);
  granules.Return(parts[2], kThird);
  EXPECT_EQ(granules.Take(2 * kThird, kGranuleBytes, true), std::nullopt);
  granules.Return(parts[1], kThird);
  EXPECT_EQ(granules.Take(3 * kThird, kGranuleBytes, true), parts[0]);
}

TEST(GranuleAllocatorTest, AlignmentIsKept) {
  GranuleAllocator granules;
  granules.AddChunk(ChunkAt(0));
  EXPECT_EQ(granules.Take(kGranuleBytes, kGranuleBytes, false), ChunkAt(0));
  EXPECT_EQ(granules.Take(kGranuleBytes, 65536, false), ChunkAt(0) + 65536);
  EXPECT_EQ(granules.Take(1024, 4096, false), ChunkAt(0) + 4096);
  EXPECT_EQ(granules.Take(kGranuleBytes, kChunkBytes, true), std::nullopt) << "the only place is taken";
}

// A few chunks that might do are looked at, and then one that will; thorough: all.
TEST(GranuleAllocatorTest, ThoroughFindsTheLastFit) {
  GranuleAllocator granules;
  constexpr size_t kChunks = 12;
  // Runs of 5 and of 6 granules are in one bin. One chunk only has a run of 6, and it is the last of its bin.
  for (size_t i = 0; i < kChunks; ++i) {
    granules.AddChunk(ChunkAt(i));
    const size_t run = i == 0 ? 6 : 5;
    ASSERT_EQ(granules.Take((kGranules - run) * kGranuleBytes, kGranuleBytes, false), ChunkAt(i));
    granules.Take((kGranules - 100) * kGranuleBytes, kGranuleBytes, true);  // a vain search: what each has left is known now
  }
  EXPECT_EQ(granules.Take(6 * kGranuleBytes, kGranuleBytes, true), ChunkAt(1) - 6 * kGranuleBytes);
  EXPECT_EQ(granules.Take(6 * kGranuleBytes, kGranuleBytes, true), std::nullopt);
}

TEST(GranuleAllocatorTest, NoTwoShareAGranuleOverRandomOperations) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    GranuleAllocator granules;
    std::map<uintptr_t, size_t> live;  // by base: bytes
    std::map<uintptr_t, size_t> used;  // by chunk: bytes
    for (size_t i = 0; i < 4; ++i) {
      granules.AddChunk(ChunkAt(i));
      used[ChunkAt(i)] = 0;
    }
    for (int step = 0; step < 20000; ++step) {
      if (random() % 100 < 52) {
        const size_t size = kGranuleBytes * (1 + random() % (random() % 20 == 0 ? 2048 : 12));
        const size_t alignment = kGranuleBytes << random() % 4;
        const auto base = granules.Take(size, alignment, random() % 2 == 0);
        if (!base) continue;
        ASSERT_EQ(*base % alignment, 0u);
        ASSERT_EQ(*base / kChunkBytes, (*base + size - 1) / kChunkBytes);
        const auto next = live.lower_bound(*base);
        ASSERT_TRUE(next == live.end() || *base + size <= next->first) << "seed " << seed << " step " << step;
        ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= *base)
            << "seed " << seed << " step " << step;
        live[*base] = size;
        used[*base / kChunkBytes * kChunkBytes] += size;
      } else if (!live.empty()) {
        auto it = live.lower_bound(kBase + random() % (4 * kChunkBytes));
        if (it == live.end()) it = live.begin();
        size_t& left = used[it->first / kChunkBytes * kChunkBytes];
        left -= it->second;
        ASSERT_EQ(granules.Return(it->first, it->second), left == 0) << "seed " << seed << " step " << step;
        live.erase(it);
      }
    }
    for (const auto& [base, size] : live) granules.Return(base, size);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(granules.Take(kChunkBytes, kGranuleBytes, false)) << "all is free, and joined again";
    }
  }
}

}  // namespace granule_allocator_test
}  // namespace ropeway
