#include "base/faster_way.h"

#include <gtest/gtest.h>

namespace faster_way_test {

using ropeway::FasterWay;

// Chooses `times` times; `one`, `other`: what the ways take. How often it was the other one.
int Choose(FasterWay& ways, int times, int64_t one, int64_t other) {
  int others = 0;
  for (int i = 0; i < times; ++i) {
    const FasterWay::Way way = ways.Choose();
    ways.Took(way, way == FasterWay::kOne ? one : other);
    others += way == FasterWay::kOther ? 1 : 0;
  }
  return others;
}

TEST(FasterWay, TriesBothAsOftenAndThenTakesTheFaster) {
  for (const bool one_wins : {true, false}) {
    FasterWay ways;
    EXPECT_EQ(Choose(ways, 16, one_wins ? 10 : 20, 15), 8);
    EXPECT_EQ(Choose(ways, 50, one_wins ? 10 : 20, 15), one_wins ? 0 : 50);
  }
}

TEST(FasterWay, OneLostCoreDecidesNothing) {
  FasterWay ways;
  ways.Took(FasterWay::kOne, 1'000'000);
  Choose(ways, 15, 10, 15);
  EXPECT_EQ(ways.Choose(), FasterWay::kOne);
}

TEST(FasterWay, AsksAgainNowAndThen) {
  FasterWay ways;
  Choose(ways, 20, 10, 15);
  EXPECT_EQ(Choose(ways, 900, 10, 5), 0);
  EXPECT_GT(Choose(ways, 200, 10, 5), 100);
  EXPECT_EQ(ways.Choose(), FasterWay::kOther);
}

TEST(FasterWay, ThoseThatDoTheSameTryTheSame) {
  FasterWay one, other;
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(one.Choose(), other.Choose());
    one.Took(one.Choose(), 10 + i);
    other.Took(other.Choose(), 20 - i);
  }
}

}  // namespace faster_way_test
