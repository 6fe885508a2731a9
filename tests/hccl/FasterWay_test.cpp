#include <gtest/gtest.h>

#include "hccl/coll/faster_way.h"

namespace faster_way_test {

using ropeway::comm::FasterWay;

// Chooses `times` times; `costs`: of a slot, and in place. How often it was in place.
int Choose(FasterWay& ways, uint64_t bytes, int times, int64_t slot_ns, int64_t in_place_ns) {
  int in_place = 0;
  for (int i = 0; i < times; ++i) {
    const FasterWay::Way way = ways.For(bytes);
    ways.Took(bytes, way, way == FasterWay::kSlot ? slot_ns : in_place_ns);
    in_place += way == FasterWay::kInPlace ? 1 : 0;
  }
  return in_place;
}

TEST(FasterWay, TriesBothAsOftenAndThenTakesTheFaster) {
  for (const bool slot_wins : {true, false}) {
    FasterWay ways;
    EXPECT_EQ(Choose(ways, 100'000, 16, slot_wins ? 10 : 20, 15), 8);
    EXPECT_EQ(Choose(ways, 100'000, 50, slot_wins ? 10 : 20, 15), slot_wins ? 0 : 50);
  }
}

TEST(FasterWay, OneLostCoreDecidesNothing) {
  FasterWay ways;
  ways.Took(40'000, FasterWay::kSlot, 1'000'000);
  Choose(ways, 40'000, 15, 10, 15);
  EXPECT_EQ(ways.For(40'000), FasterWay::kSlot);
}

TEST(FasterWay, EachSizeIsAQuestionOfItsOwn) {
  FasterWay ways;
  Choose(ways, 40'000, 16, 10, 15);
  Choose(ways, 400'000, 16, 150, 100);
  EXPECT_EQ(ways.For(40'000), FasterWay::kSlot);
  EXPECT_EQ(ways.For(60'000), FasterWay::kSlot);
  EXPECT_EQ(ways.For(400'000), FasterWay::kInPlace);
}

TEST(FasterWay, AsksAgainNowAndThen) {
  FasterWay ways;
  Choose(ways, 40'000, 20, 10, 15);
  EXPECT_EQ(Choose(ways, 40'000, 900, 10, 5), 0);
  EXPECT_GT(Choose(ways, 40'000, 200, 10, 5), 100);
  EXPECT_EQ(ways.For(40'000), FasterWay::kInPlace);
}

// They look at their own collectives only, and those are the same everywhere.
TEST(FasterWay, RanksTryTheSameAtTheSameTime) {
  FasterWay one, other;
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(one.For(100'000), other.For(100'000));
    one.Took(100'000, one.For(100'000), 10 + i);
    other.Took(100'000, other.For(100'000), 20 - i);
  }
}

}  // namespace faster_way_test
