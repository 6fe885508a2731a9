#include "engine/part_order.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/batch.h"

namespace ropeway {
namespace {

std::vector<size_t> Turns(const PartOrder& order) {
  std::vector<size_t> parts;
  for (size_t turn = 0; turn < order.count(); ++turn) parts.push_back(order[turn]);
  return parts;
}

TEST(PartOrderTest, EveryPartHasItsTurn) {
  for (const size_t count : {1, 2, 3, 4, 12, 97, 1000}) {
    for (uint64_t dice = 0; dice < 50; ++dice) {
      std::vector<bool> seen(count, false);
      for (const size_t part : Turns(PartOrder::Dealt(count, dice))) {
        ASSERT_LT(part, count);
        EXPECT_FALSE(seen[part]) << count << " parts, dice " << dice;
        seen[part] = true;
      }
    }
  }
}

TEST(PartOrderTest, DiceDealManyOrders) {
  std::vector<bool> first(8, false);
  for (uint64_t dice = 0; dice < 200; ++dice) first[PartOrder::Dealt(8, dice)[0]] = true;
  EXPECT_EQ(first, std::vector<bool>(8, true));
}

TEST(PartOrderTest, ReversedBeginsWithTheLast) {
  EXPECT_EQ(Turns(PartOrder::Reversed(4)), (std::vector<size_t>{3, 2, 1, 0}));
  EXPECT_EQ(Turns(PartOrder::AsGiven(3)), (std::vector<size_t>{0, 1, 2}));
}

TEST(PartOrderTest, BatchIsArrangedByIt) {
  char from[3][64], to[3][128];
  Batch batch(3);
  for (int i = 0; i < 3; ++i) batch.Add(to[i], from[i], 1 + i);
  batch.Arrange(PartOrder::Reversed(3));
  ASSERT_EQ(batch.pieces().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(batch.pieces()[i].dst, to[2 - i]);
    EXPECT_EQ(batch.pieces()[i].size, 3 - i);
  }
  EXPECT_EQ(batch.bytes(), 6u);
}

}  // namespace
}  // namespace ropeway
