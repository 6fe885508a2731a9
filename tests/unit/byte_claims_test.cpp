// Claims of bytes against the bytes themselves.
#include "engine/cpu/byte_claims.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ropeway::cpu {
namespace byte_claims_test {

const void* At(size_t address) { return reinterpret_cast<const void*>(address); }
constexpr size_t kBlock = 4096;

class ByteClaimsTest : public testing::Test {
 protected:
  bool Write(size_t address, size_t size) {
    claims_.NextTask(1);
    return claims_.Write(At(address), size);
  }
  bool Read(size_t address, size_t size) {
    claims_.NextTask(1);
    return claims_.Read(At(address), size);
  }
  ByteClaims& claims_ = *ByteClaims::OfThisThread();
};

TEST_F(ByteClaimsTest, NeighboursDoNotTouch) {
  claims_.Begin(kBlock);
  for (size_t i : {0, 2, 4, 1, 3}) EXPECT_TRUE(Write(100 + i * kBlock, kBlock)) << i;
  EXPECT_FALSE(Write(100 + 5 * kBlock - 1, 1));
  EXPECT_FALSE(Write(0, 101));
  EXPECT_TRUE(Write(100 + 5 * kBlock, 1));
  EXPECT_TRUE(Write(0, 100));
}

TEST_F(ByteClaimsTest, ReadersTouchWritersOnly) {
  claims_.Begin(kBlock);
  EXPECT_TRUE(Read(kBlock, kBlock));
  EXPECT_TRUE(Read(kBlock + 1, kBlock));
  EXPECT_FALSE(Write(2 * kBlock, 1)) << "is read";
  EXPECT_TRUE(Write(3 * kBlock, 10));
  EXPECT_FALSE(Read(3 * kBlock + 9, 1)) << "is written";
  EXPECT_TRUE(Read(3 * kBlock + 10, 1));
}

// A task ends with one of the portions that it was announced for, and others may come behind it.
TEST_F(ByteClaimsTest, AClaimIsVoidWhenItsLastPortionIsComplete) {
  claims_.Begin(kBlock);
  claims_.NextTask(2);
  ASSERT_TRUE(claims_.Write(At(kBlock), kBlock));
  for (int portion = 0; portion < 3; ++portion) {
    claims_.NextPortion();
    EXPECT_FALSE(Write(kBlock, 1)) << portion;
    claims_.Complete(1);
  }
  EXPECT_TRUE(Write(kBlock, 1));
  EXPECT_FALSE(Write(kBlock, 1));
  claims_.Begin(kBlock);
  EXPECT_TRUE(Write(kBlock, 1)) << "of another volley";
}

TEST_F(ByteClaimsTest, AFullTableSaysNo) {
  claims_.Begin(kBlock);
  size_t claimed = 0;
  while (Write(claimed * 2 * kBlock, kBlock)) ++claimed;
  EXPECT_GT(claimed, 1000u);
  EXPECT_LE(claimed, 4u * 2048);
  claims_.Begin(kBlock);
  EXPECT_TRUE(Write(claimed * 2 * kBlock, kBlock));
}

// As in a long loop of small copies inside the device: as many as a volley has under way, each a portion, wherever they lie.
TEST_F(ByteClaimsTest, ScatteredBlocksAreRefusedWhereTheyTouchAndNowhereElse) {
  constexpr size_t kUnderWay = 4096, kTasks = 200'000;
  std::mt19937_64 random(5);
  std::deque<size_t> under_way;
  std::unordered_set<size_t> claimed;
  claims_.Begin(kBlock);
  size_t refused = 0;
  for (size_t task = 0; task < kTasks; ++task) {
    const size_t block = random() % (1 << 21);
    const bool touches = claimed.count(block) != 0;
    ASSERT_EQ(Write(block * kBlock, kBlock), !touches) << "task " << task;
    if (touches) {
      ++refused;
      continue;
    }
    claims_.NextPortion();
    claimed.insert(block);
    under_way.push_back(block);
    if (under_way.size() < kUnderWay) continue;
    claims_.Complete(1);
    claimed.erase(under_way.front());
    under_way.pop_front();
  }
  EXPECT_GT(refused, 100u);
}

// Most tasks end with their portion, some much later, and in a table that is full in places claims lie aside, and are moved there. It may
// find no room, but a block that is claimed is never given away; least of all in quiet times, when few are left.
TEST_F(ByteClaimsTest, AClaimIsKeptWhereverItLies) {
  constexpr size_t kLasting = 100, kLong = 40, kQuietPortions = 20, kQuietTasks = 60;
  for (size_t burst : {300, 1000, 3000, 7000}) {
    std::mt19937_64 random(burst);
    std::unordered_map<size_t, size_t> ends;  // with which portion
    std::vector<size_t> lasting;
    claims_.Begin(kBlock);
    for (size_t portion = 0; portion < 40 * (kQuietPortions + 1); ++portion) {
      const bool quiet = portion % (kQuietPortions + 1) != 0;
      const bool at_home = portion / (kQuietPortions + 1) % 2 == 0;  // lasting ones come first and may have to move, or last and lie aside
      if (!quiet) lasting.clear();
      for (size_t task = 0; task < (quiet ? kQuietTasks : burst); ++task) {
        const bool again = quiet && !lasting.empty() && random() % 4 != 0;
        const size_t block = again ? lasting[random() % lasting.size()] : random() % (1 << 21);
        const size_t portions = !quiet && (at_home ? task < kLasting : task + kLasting >= burst) ? kLong : 1;
        const auto before = ends.find(block);
        claims_.NextTask(portions);
        const bool allowed = claims_.Write(At(block * kBlock), kBlock);
        ASSERT_FALSE(allowed && before != ends.end() && before->second > portion) << "portion " << portion << ", bursts of " << burst;
        if (!allowed) continue;
        ends[block] = portion + portions;
        if (portions == kLong) lasting.push_back(block);
      }
      claims_.NextPortion();
      if (portion > 0) claims_.Complete(1);
    }
  }
}

TEST_F(ByteClaimsTest, ATaskOfAnotherSizeIsNone) {
  claims_.Begin(kBlock);
  EXPECT_FALSE(Write(0, 1000 * kBlock));
  claims_.Begin(1000 * kBlock);
  EXPECT_TRUE(Write(0, 1000 * kBlock));
  EXPECT_FALSE(Read(999 * kBlock, kBlock));
}

// What it allows never touches; what lies in granules of its own is always allowed.
TEST_F(ByteClaimsTest, NeverSaysYesTooOften) {
  std::mt19937_64 random(3);
  constexpr size_t kSpace = 1 << 18;
  for (size_t typical : {size_t{1}, kBlock, size_t{10000}, size_t{100000}}) {
    for (int round = 0; round < 20; ++round) {
      claims_.Begin(typical);
      std::vector<char> written(kSpace), read(kSpace);
      for (int task = 0; task < 40; ++task) {
        const size_t size = 1 + random() % (2 * typical);
        const size_t address = random() % (kSpace - std::min(size, kSpace - 1));
        const size_t end = std::min(address + size, kSpace);
        const bool writes = random() % 2 == 0;
        if (!(writes ? Write(address, end - address) : Read(address, end - address))) break;
        for (size_t i = address; i < end; ++i) {
          ASSERT_FALSE(written[i] || (writes && read[i])) << typical << " at " << i;
          (writes ? written : read)[i] = 1;
        }
      }
    }
  }
}

}  // namespace byte_claims_test
}  // namespace ropeway::cpu
