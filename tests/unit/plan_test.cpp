// How bytes move, as a table of sizes.
#include "copy/plan.h"

#include <gtest/gtest.h>

#include <string>

namespace ropeway {
namespace {

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
    {5000, CopyMethod::kShared, CopyMethod::kStreaming, CopyMethod::kStreaming},
    {SIZE_MAX, CopyMethod::kShared, CopyMethod::kStreaming, CopyMethod::kStreaming},
};

TEST(PlanTest, SizesAndMethods) {
  for (const Case& entry : kCases) {
    EXPECT_EQ(PlanCopy(entry.size, kTraits).method, entry.copy) << entry.size;
    EXPECT_EQ(PlanRows(entry.size, kTraits).method, entry.rows) << entry.size;
    EXPECT_EQ(PlanSet(entry.size, kTraits).method, entry.set) << entry.size;
  }
}

TEST(PlanTest, EveryPlanSaysWhy) {
  for (const Case& entry : kCases) {
    EXPECT_FALSE(std::string(PlanCopy(entry.size, kTraits).why).empty());
    EXPECT_FALSE(std::string(PlanRows(entry.size, kTraits).why).empty());
  }
  EXPECT_STRNE(PlanCopy(1, kTraits).why, PlanCopy(1000, kTraits).why);
  EXPECT_STRNE(PlanCopy(1000, kTraits).why, PlanCopy(5000, kTraits).why);
}

}  // namespace
}  // namespace ropeway
