#include "memory/address_plan.h"

#include <gtest/gtest.h>

#include <bit>

#include "memory/address_map.h"

namespace ropeway::address_plan_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = size_t{1} << 30;
constexpr size_t kTiB = size_t{1} << 40;

TEST(AddressPlan, WithoutALimitEverythingIsThere) {
  const AddressNeeds needs{8, 64 * kGiB, 2};
  const AddressPlan plan = PlanAddresses(needs, SIZE_MAX);
  EXPECT_EQ(plan.device_memory, 64 * kGiB);
  EXPECT_EQ(plan.window, 128 * kGiB);
  EXPECT_EQ(plan.mapped, 8 * kTiB);
  EXPECT_EQ(plan.host, 512 * kGiB);
}

TEST(AddressPlan, ABudgetThatIsJustEnoughChangesNothing) {
  const AddressNeeds needs{2, kGiB, 2};
  const AddressPlan full = FullPlan(needs);
  EXPECT_EQ(PlanAddresses(needs, full.total(needs)).total(needs), full.total(needs));
  EXPECT_LT(PlanAddresses(needs, full.total(needs) - 1).total(needs), full.total(needs));
}

struct Case {
  const char* what;
  size_t devices, device_memory, views, budget;
};

class AddressPlanCases : public testing::TestWithParam<Case> {};

TEST_P(AddressPlanCases, FitsAndIsOfUse) {
  const Case& c = GetParam();
  const AddressNeeds needs{c.devices, c.device_memory, c.views};
  const AddressPlan plan = PlanAddresses(needs, c.budget);
  ASSERT_TRUE(plan.possible());
  EXPECT_LE(plan.total(needs), c.budget);
  EXPECT_TRUE(std::has_single_bit(plan.window));
  EXPECT_LE(plan.device_memory, plan.window / 2);
  EXPECT_LE(plan.device_memory, c.device_memory);
  for (const size_t part : {plan.window, plan.aliases, plan.mapped, plan.host}) {
    EXPECT_GE(part, 2 * kChunkBytes);
    EXPECT_EQ(part % kChunkBytes, 0u);
  }
  // No more than what rounding takes is left unused, unless everybody has all that he asked for.
  if (plan.window < FullPlan(needs).window) {
    EXPECT_GE(plan.total(needs), c.budget / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Budgets, AddressPlanCases,
                         testing::Values(Case{"ThreadSanitizer", 8, 64 * kGiB, 2, 256 * kGiB},
                                         Case{"an emulator", 8, 64 * kGiB, 2, 16 * kGiB}, Case{"valgrind", 8, 64 * kGiB, 2, 2 * kGiB},
                                         Case{"ulimit -v 2 GiB", 8, 64 * kGiB, 2, 900 * kMiB},
                                         Case{"ulimit -v 2 GiB, one small device", 1, 64 * kMiB, 2, 900 * kMiB},
                                         Case{"host access", 8, 64 * kGiB, 1, 4 * kGiB}, Case{"many devices", 64, 64 * kGiB, 2, 2 * kGiB},
                                         Case{"an odd size", 3, 5 * kGiB + 12345, 2, 7 * kGiB + 54321},
                                         Case{"the smallest", 1, 2 * kMiB, 2, 160 * kMiB}));

TEST(AddressPlan, TooLittleIsNoPlan) {
  EXPECT_FALSE(PlanAddresses({1, 64 * kGiB, 2}, 16 * kMiB).possible());
  EXPECT_FALSE(PlanAddresses({64, 64 * kGiB, 2}, 256 * kMiB).possible());
  EXPECT_FALSE(PlanAddresses({1, 64 * kGiB, 2}, 0).possible());
}

}  // namespace
}  // namespace ropeway::address_plan_test
