// A set of bytes against the bytes themselves.
#include "engine/byte_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ropeway {
namespace byte_ranges_test {

const void* At(size_t address) { return reinterpret_cast<const void*>(address); }

TEST(ByteRangesTest, NeighboursBecomeOne) {
  ByteRanges ranges;
  for (size_t i : {0, 2, 4, 1, 3}) ASSERT_TRUE(ranges.AddNew(At(1000 + 10 * i), 10));
  EXPECT_EQ(ranges.count(), 1u);
  EXPECT_TRUE(ranges.Touches(At(1049), 1));
  EXPECT_FALSE(ranges.Touches(At(1050), 1));
  EXPECT_FALSE(ranges.Touches(At(999), 1));
  EXPECT_TRUE(ranges.Touches(At(999), 2));
}

TEST(ByteRangesTest, WhatIsThereIsNotNew) {
  ByteRanges ranges;
  ASSERT_TRUE(ranges.AddNew(At(100), 10));
  ASSERT_TRUE(ranges.AddNew(At(200), 10));
  for (size_t begin : {91, 100, 105, 109, 191, 209}) EXPECT_FALSE(ranges.AddNew(At(begin), 10)) << begin;
  EXPECT_FALSE(ranges.AddNew(At(110), 91));  // touches the first, and has a byte of the second
  EXPECT_EQ(ranges.count(), 2u);
  EXPECT_TRUE(ranges.AddNew(At(110), 90));
  EXPECT_EQ(ranges.count(), 1u);
}

TEST(ByteRangesTest, AFullSetTakesOnlyWhatGrowsTogether) {
  ByteRanges ranges;
  for (size_t i = 0; i < ByteRanges::kMost; ++i) ASSERT_TRUE(ranges.AddNew(At(1000 + 100 * i), 50));
  EXPECT_FALSE(ranges.Add(At(10), 10));
  EXPECT_FALSE(ranges.AddNew(At(10), 10));
  EXPECT_TRUE(ranges.Add(At(1050), 10));
  EXPECT_TRUE(ranges.AddNew(At(1060), 40));
  EXPECT_EQ(ranges.count(), ByteRanges::kMost - 1);
  EXPECT_TRUE(ranges.Add(At(10), 10));
}

TEST(ByteRangesTest, AnyOrderAnyOverlap) {
  constexpr size_t kBytes = 3000, kFirst = 64;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    ByteRanges ranges;
    std::vector<bool> bytes(kBytes);
    for (int step = 0; step < 200; ++step) {
      const size_t size = 1 + random() % 40, begin = random() % (kBytes - size);
      bool some = false;
      for (size_t i = begin; i < begin + size; ++i) some = some || bytes[i];
      ASSERT_EQ(ranges.Touches(At(kFirst + begin), size), some) << "seed " << seed << " step " << step;
      const bool only_new = random() % 2 == 0;
      const bool added = only_new ? ranges.AddNew(At(kFirst + begin), size) : ranges.Add(At(kFirst + begin), size);
      ASSERT_EQ(added, !only_new || !some) << "seed " << seed << " step " << step;
      for (size_t i = begin; added && i < begin + size; ++i) bytes[i] = true;
    }
    size_t runs = 0;
    for (size_t i = 0; i < kBytes; ++i) runs += bytes[i] && (i == 0 || !bytes[i - 1]);
    EXPECT_EQ(ranges.count(), runs);
  }
}

}  // namespace byte_ranges_test
}  // namespace ropeway
