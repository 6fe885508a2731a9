// RangeAllocator against a bitmap that does the same by brute force.
#include "memory/range_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ropeway {
namespace range_allocator_test {

// One entry per unit: free or not. Best fit, lowest address among equals.
class Bitmap {
 public:
  explicit Bitmap(size_t units) : free_(units, false) {}

  void Add(uintptr_t base, size_t size) {
    for (size_t i = base; i < base + size; ++i) free_[i] = true;
  }

  void Remove(uintptr_t base, size_t size) {
    for (size_t i = base; i < base + size; ++i) free_[i] = false;
  }

  std::optional<uintptr_t> Take(size_t size, size_t alignment) {
    std::optional<uintptr_t> best;
    size_t best_length = SIZE_MAX;
    for (size_t i = 0; i < free_.size();) {
      size_t end = i;
      while (end < free_.size() && free_[end]) ++end;
      const size_t aligned = (i + alignment - 1) / alignment * alignment;
      if (end > i && aligned + size <= end && end - i < best_length) {
        best = aligned;
        best_length = end - i;
      }
      i = end + 1;
    }
    if (best) Remove(*best, size);
    return best;
  }

 private:
  std::vector<bool> free_;
};

TEST(RangeAllocatorTest, NothingComesOfNothing) {
  RangeAllocator ranges;
  EXPECT_EQ(ranges.Take(1, 1), std::nullopt);
}

TEST(RangeAllocatorTest, NeighboursAreJoined) {
  RangeAllocator ranges;
  ranges.Add(100, 10);
  ranges.Add(120, 10);
  EXPECT_EQ(ranges.Take(30, 1), std::nullopt);
  ranges.Add(110, 10);
  EXPECT_EQ(ranges.Take(30, 1), uintptr_t{100});
  EXPECT_EQ(ranges.Take(1, 1), std::nullopt);
}

TEST(RangeAllocatorTest, TheSmallestRangeThatFitsIsTaken) {
  RangeAllocator ranges;
  ranges.Add(0, 100);
  ranges.Add(200, 10);
  ranges.Add(300, 20);
  EXPECT_EQ(ranges.Take(10, 1), uintptr_t{200});
  EXPECT_EQ(ranges.Take(15, 1), uintptr_t{300});
  EXPECT_EQ(ranges.Take(6, 1), uintptr_t{0});
}

TEST(RangeAllocatorTest, AlignmentLeavesTheFrontFree) {
  RangeAllocator ranges;
  ranges.Add(3, 64);
  EXPECT_EQ(ranges.Take(32, 32), uintptr_t{32});
  EXPECT_EQ(ranges.Take(29, 1), uintptr_t{3});
  EXPECT_EQ(ranges.Take(3, 1), uintptr_t{64});
}

TEST(RangeAllocatorTest, TakingAPlaceCutsARange) {
  RangeAllocator ranges;
  ranges.Add(0, 100);
  EXPECT_TRUE(ranges.TakeAt(40, 20));
  EXPECT_FALSE(ranges.TakeAt(59, 2));
  EXPECT_EQ(ranges.Take(41, 1), std::nullopt);
  EXPECT_EQ(ranges.Take(40, 1), uintptr_t{0});
  EXPECT_EQ(ranges.Take(40, 1), uintptr_t{60});
}

TEST(RangeAllocatorTest, AddressesNearTheTopDoNotWrap) {
  RangeAllocator ranges;
  const uintptr_t top = UINTPTR_MAX - 4096 + 1;
  ranges.Add(top - 4096, 4096);
  EXPECT_EQ(ranges.Take(8192, 1), std::nullopt);
  EXPECT_EQ(ranges.Take(4096, 4096), top - 4096);
}

TEST(RangeAllocatorTest, AgreesWithABitmapOverRandomOperations) {
  constexpr size_t kUnits = 512;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    RangeAllocator ranges;
    Bitmap reference(kUnits);
    std::vector<std::pair<uintptr_t, size_t>> taken;
    ranges.Add(0, kUnits);
    reference.Add(0, kUnits);
    for (int step = 0; step < 3000; ++step) {
      if (random() % 2 == 0 || taken.empty()) {
        const size_t size = 1 + random() % 40;
        const size_t alignment = size_t{1} << random() % 5;
        const auto base = ranges.Take(size, alignment);
        ASSERT_EQ(base, reference.Take(size, alignment)) << "seed " << seed << " step " << step;
        if (!base) continue;
        ASSERT_EQ(*base % alignment, 0u);
        taken.emplace_back(*base, size);
      } else {
        std::swap(taken[random() % taken.size()], taken.back());
        const auto [base, size] = taken.back();
        taken.pop_back();
        ranges.Return(base, size);
        reference.Add(base, size);
        if (random() % 8 == 0) {
          ASSERT_TRUE(ranges.TakeAt(base, size)) << "seed " << seed << " step " << step;
          reference.Remove(base, size);
          taken.emplace_back(base, size);
        }
      }
    }
  }
}

}  // namespace range_allocator_test
}  // namespace ropeway
