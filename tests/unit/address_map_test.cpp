// AddressMap: which block an address belongs to, for large blocks, small ones, and while both change places.
#include "memory/address_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ropeway {
namespace address_map_test {

class AddressMapTest : public testing::Test {
 protected:
  static constexpr uintptr_t kBase = uintptr_t{64} << 30;  // nobody touches it
  static constexpr size_t kChunks = 16;
  void SetUp() override { ASSERT_TRUE(map_.Init(At(0), kChunks * kChunkBytes)); }

  static void* At(size_t offset) { return reinterpret_cast<void*>(kBase + offset); }
  void SetLarge(Block& block, size_t offset, size_t size) {
    block.Describe({kBase + offset, size, 3, 4096, "large", nullptr});
    map_.SetChunks(kBase + offset, (size + kChunkBytes - 1) / kChunkBytes * kChunkBytes, &block);
  }
  void SetSmall(Block& block, size_t offset, size_t size) {
    block.Describe({kBase + offset, size, 3, 4096, "small", nullptr});
    map_.SetGranules(kBase + offset, (size + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes, &block);
  }
  AddressMap map_;
};

TEST_F(AddressMapTest, ContainsItsRegionOnly) {
  EXPECT_TRUE(map_.Contains(At(0)));
  EXPECT_TRUE(map_.Contains(At(kChunks * kChunkBytes - 1)));
  EXPECT_FALSE(map_.Contains(At(kChunks * kChunkBytes)));
  EXPECT_FALSE(map_.Contains(reinterpret_cast<void*>(kBase - 1)));
  EXPECT_FALSE(map_.Contains(nullptr));
  EXPECT_FALSE(AddressMap().Contains(At(0))) << "before Init it contains nothing";
}

TEST_F(AddressMapTest, AnEmptyMapFindsNothing) {
  EXPECT_FALSE(map_.Find(At(0)).found());
  EXPECT_FALSE(map_.Find(At(kChunks * kChunkBytes - 1)).found());
}

TEST_F(AddressMapTest, ALargeBlockIsFoundFromItsFirstToItsLastByte) {
  Block block;
  const size_t size = 2 * kChunkBytes + 96;
  SetLarge(block, kChunkBytes, size);
  for (size_t offset : {size_t{0}, size_t{1}, kChunkBytes, 2 * kChunkBytes, size - 1}) {
    const BlockInfo info = map_.Find(At(kChunkBytes + offset));
    ASSERT_TRUE(info.found()) << offset;
    EXPECT_EQ(info.base, kBase + kChunkBytes);
    EXPECT_EQ(info.size, size);
    EXPECT_EQ(info.device, 3);
    EXPECT_STREQ(info.call, "large");
  }
  EXPECT_FALSE(map_.Find(At(kChunkBytes + size)).found()) << "the rest of the last chunk belongs to nobody";
  EXPECT_FALSE(map_.Find(At(kChunkBytes - 1)).found());
  EXPECT_EQ(map_.RecordAt(kBase + kChunkBytes), &block);
  EXPECT_EQ(map_.RoomAt(At(kChunkBytes)), static_cast<ptrdiff_t>(size));
  EXPECT_EQ(map_.RoomAt(At(kChunkBytes + size - 1)), 1);
  EXPECT_LE(map_.RoomAt(At(kChunkBytes + size)), 0);
  EXPECT_LE(map_.RoomAt(At(kChunkBytes - 1)), 0);
}

TEST_F(AddressMapTest, SmallBlocksShareAChunk) {
  Block first, second;
  SetSmall(first, 0, 512);
  SetSmall(second, 1024, 704);
  EXPECT_EQ(map_.Find(At(511)).base, kBase);
  EXPECT_FALSE(map_.Find(At(512)).found());
  EXPECT_EQ(map_.Find(At(1024 + 703)).base, kBase + 1024);
  EXPECT_FALSE(map_.Find(At(1024 + 704)).found());
  EXPECT_EQ(map_.RecordAt(kBase + 1024), &second);
  EXPECT_EQ(map_.RoomAt(At(1025)), 703);
  EXPECT_LE(map_.RoomAt(At(1024 + 704)), 0);
  EXPECT_LE(map_.RoomAt(At(512)), 0);
}

TEST_F(AddressMapTest, ASmallBlockMayCrossAChunk) {
  Block block;
  SetSmall(block, kChunkBytes - 512, 1024);
  EXPECT_TRUE(map_.Find(At(kChunkBytes - 512)).found());
  EXPECT_TRUE(map_.Find(At(kChunkBytes + 511)).found());
  EXPECT_FALSE(map_.Find(At(kChunkBytes + 512)).found());
}

TEST_F(AddressMapTest, AFreedBlockIsFoundNoMore) {
  Block large, small;
  SetLarge(large, 0, kChunkBytes);
  SetSmall(small, kChunkBytes, 512);
  map_.SetChunks(kBase, kChunkBytes, nullptr);
  map_.SetGranules(kBase + kChunkBytes, 512, nullptr);
  EXPECT_FALSE(map_.Find(At(0)).found());
  EXPECT_FALSE(map_.Find(At(kChunkBytes)).found());
}

TEST_F(AddressMapTest, AChunkChangesBetweenSmallAndLarge) {
  Block small, large, again;
  SetSmall(small, 0, 512);
  map_.SetGranules(kBase, 512, nullptr);
  SetLarge(large, 0, kChunkBytes);
  EXPECT_EQ(map_.Find(At(kChunkBytes - 1)).base, kBase);
  EXPECT_EQ(map_.RecordAt(kBase), &large);
  map_.SetChunks(kBase, kChunkBytes, nullptr);
  EXPECT_FALSE(map_.Find(At(0)).found());
  SetSmall(again, 1024, 512);
  EXPECT_FALSE(map_.Find(At(0)).found());
  EXPECT_TRUE(map_.Find(At(1024)).found());
}

// A reader that races with a reuse sees the old block, the new one or none, and never a mixture.
TEST_F(AddressMapTest, ReadersSeeWholeBlocks) {
  Block record;
  std::atomic<bool> stop{false};
  std::atomic<int> mixed{0}, looks{0};
  std::thread reader([&] {
    for (; !stop; ++looks) {
      const BlockInfo info = map_.Find(At(600));
      if (!info.found()) continue;
      const bool one = info.base == kBase && info.size == 992 && info.device == 1 && info.page_size == 11;
      const bool two = info.base == kBase + 512 && info.size == 480 && info.device == 2 && info.page_size == 22;
      mixed += !one && !two;
    }
  });
  while (looks == 0) std::this_thread::yield();
  for (int round = 0; round < 20000; ++round) {
    record.Describe({kBase, 992, 1, 11, "one", nullptr});
    map_.SetGranules(kBase, 1024, &record);
    map_.SetGranules(kBase, 1024, nullptr);
    record.Describe({kBase + 512, 480, 2, 22, "two", nullptr});
    map_.SetGranules(kBase + 512, 512, &record);
    map_.SetGranules(kBase + 512, 512, nullptr);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(mixed, 0);
}

}  // namespace address_map_test
}  // namespace ropeway
