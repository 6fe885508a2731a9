// How bytes move, as a table of sizes.
#include "copy/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/batch.h"

namespace ropeway {
namespace plan_test {

constexpr Traits kTraits = {"test", 1000, 5000};

struct Case {
  size_t size;
  CopyMethod copy, rows, set;
};
constexpr Case kCases[] = {
    {0, CopyMethod::kCached, CopyMethod::kCached, CopyMethod::kCached},
    {1, CopyMethod::kCached, CopyMethod::kCached, CopyMethod::kCached},
    {999, CopyMethod::kCached, CopyMethod::kCached, CopyMethod::kCached},
    {1000, CopyMethod::kStreaming, CopyMethod::kStreaming, CopyMethod::kStreaming},
    {4999, CopyMethod::kStreaming, CopyMethod::kStreaming, CopyMethod::kStreaming},
    {5000, CopyMethod::kShared, CopyMethod::kShared, CopyMethod::kStreaming},
    {SIZE_MAX, CopyMethod::kShared, CopyMethod::kShared, CopyMethod::kStreaming},
};

TEST(PlanTest, SizesAndMethods) {
  for (const Case& entry : kCases) {
    EXPECT_EQ(PlanCopy(entry.size, kTraits).method, entry.copy) << entry.size;
    EXPECT_EQ(PlanRows(entry.size, 1, kTraits).method, entry.rows) << entry.size;
    EXPECT_EQ(PlanSet(entry.size, kTraits).method, entry.set) << entry.size;
    EXPECT_EQ(PlanBatch(entry.size, kTraits).method, entry.copy) << entry.size;
  }
}

// Many small pieces together are as much work as one large one.
TEST(PlanTest, TheSumOfABatchDecides) {
  Batch batch(100);
  std::vector<char> bytes(10000);
  for (size_t i = 0; i < 100; ++i) batch.Add(&bytes[i * 100], &bytes[i * 100 + 50], 50);
  EXPECT_EQ(PlanCopy(50, kTraits).method, CopyMethod::kCached);
  EXPECT_EQ(PlanBatch(batch.bytes(), kTraits).method, CopyMethod::kShared);
  EXPECT_EQ(PlanRows(50, 99, kTraits).method, CopyMethod::kStreaming);
  EXPECT_EQ(PlanRows(50, 100, kTraits).method, CopyMethod::kShared);
}

// Copies that wait behind one another, too, from the size on at which stores around the cache win.
TEST(PlanTest, SoDoesTheSumOfABurst) {
  constexpr Traits traits = {"test", 256 << 10, 512 << 10};
  const auto method = [&](size_t size, uint64_t behind) { return traits.InBurst(PlanCopy(size, traits).method, size, behind); };
  EXPECT_EQ(method(0, 100000), CopyMethod::kCached);
  EXPECT_EQ(method(4095, 100000), CopyMethod::kCached);
  EXPECT_EQ(method(4096, 63), CopyMethod::kCached);
  EXPECT_EQ(method(4096, 64), CopyMethod::kStreaming);
  EXPECT_EQ(method(64 << 10, 3), CopyMethod::kCached);
  EXPECT_EQ(method(64 << 10, 4), CopyMethod::kStreaming);
  EXPECT_EQ(method(256 << 10, 0), CopyMethod::kStreaming);
  EXPECT_EQ(method(512 << 10, 100), CopyMethod::kShared);
}

TEST(PlanTest, EveryPlanSaysWhy) {
  for (const Case& entry : kCases) {
    EXPECT_FALSE(std::string(PlanCopy(entry.size, kTraits).why).empty());
    EXPECT_FALSE(std::string(PlanRows(entry.size, 1, kTraits).why).empty());
    EXPECT_FALSE(std::string(PlanBatch(entry.size, kTraits).why).empty());
  }
  EXPECT_STRNE(PlanCopy(1, kTraits).why, PlanCopy(1000, kTraits).why);
  EXPECT_STRNE(PlanCopy(1000, kTraits).why, PlanCopy(5000, kTraits).why);
}

}  // namespace plan_test
}  // namespace ropeway
