// Copies and reductions above 4 GiB: the pieces, their order, and what stays when one is refused.
#include "dispatcher_test_util.h"
#include "hccl/dispatcher/pieces.h"

namespace hccl_memcpy_split_test {

using namespace dispatcher_test;

class HcclMemcpySplit : public DispatcherTest {
 protected:
  void TearDown() override {
    ropeway::comm::SetMaxPieceBytesForTest(HCCL_SDMA_MAX_COUNT_4GB);
    DispatcherTest::TearDown();
  }
};

TEST_F(HcclMemcpySplit, OnePieceIsFourGiB) { EXPECT_EQ(ropeway::comm::MaxPieceBytes(), 0x100000000u); }

// The numbers of rules/hccl-copy.md 3 without its gigabytes: limit and limit + 1.
TEST_F(HcclMemcpySplit, TheLimitIsOnePieceAndOneByteMoreIsTwo) {
  ropeway::comm::SetMaxPieceBytesForTest(1000);
  const auto bytes = Pattern(3001, 1);
  DeviceBuffer a(3001);
  DeviceBuffer b(3001);
  a.Write(bytes);
  const struct {
    uint64_t count;
    std::vector<u64> sizes;
  } rows[] = {{999, {999}}, {1000, {1000}}, {1001, {1000, 1}}, {2000, {1000, 1000}}, {3001, {1000, 1000, 1000, 1}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.count);
    TaskLog log(dispatcher_);
    b.Write(Pattern(3001, 2));
    EXPECT_EQ(Copy(b.get(), 3001, a.get(), row.count, kD2D), HCCL_SUCCESS);
    Sync();
    auto wanted = Pattern(3001, 2);
    std::copy(bytes.begin(), bytes.begin() + static_cast<long>(row.count), wanted.begin());
    EXPECT_EQ(b.Read(3001), wanted);
    ASSERT_EQ(log.tasks.size(), row.sizes.size());
    uint64_t offset = 0;
    for (size_t i = 0; i < row.sizes.size(); ++i) {
      EXPECT_EQ(log.tasks[i].dma.size, row.sizes[i]);
      EXPECT_EQ(log.tasks[i].dma.dst, b.at(offset));
      EXPECT_EQ(log.tasks[i].dma.src, a.at(offset));
      offset += row.sizes[i];
    }
  }
}

TEST_F(HcclMemcpySplit, AllPiecesShareOneBeginTime) {
  ropeway::comm::SetMaxPieceBytesForTest(16);
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  TaskLog log(dispatcher_);
  EXPECT_EQ(ForceProfOn(dispatcher_, true), HCCL_SUCCESS);
  EXPECT_EQ(Copy(a.get(), 64, b.get(), 64, kD2D), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 4u);
  EXPECT_NE(log.tasks[0].beginTime, 0u);
  for (const auto& task : log.tasks) EXPECT_EQ(task.beginTime, log.tasks[0].beginTime);
}

// The source ends after one and a half pieces: the runtime refuses the second, the first stays.
TEST_F(HcclMemcpySplit, ARefusedPieceLeavesTheEarlierOnesQueued) {
  ropeway::comm::SetMaxPieceBytesForTest(4u << 20);
  DeviceBuffer from(6u << 20);
  DeviceBuffer to(8u << 20);
  from.Write(Pattern(64, 3));
  to.Write(Pattern(64, 4));
  TaskLog log(dispatcher_);
  EXPECT_EQ(Copy(to.get(), 8u << 20, from.get(), 8u << 20, kD2D), HCCL_E_RUNTIME);
  Sync();
  EXPECT_EQ(log.tasks.size(), 1u);
  EXPECT_EQ(to.Read(64), Pattern(64, 3));
  TakeErrorText();
}

// Real sizes, held back and dropped, so that no byte of the 4 GiB is touched.
TEST_F(HcclMemcpySplit, FourGiBAndOneByteForReal) {
  constexpr uint64_t kFour = 0x100000000;
  size_t free_bytes = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total), ACL_SUCCESS);
  if (free_bytes < 3 * kFour) GTEST_SKIP() << "the device has " << free_bytes << " bytes; 12 GiB are needed";
  DeviceBuffer a(kFour + 1);
  DeviceBuffer b(kFour + 1);
  SubStream sub;
  Notify never;
  ASSERT_EQ(aclrtWaitAndResetNotify(never.handle, sub.handle, 0), ACL_SUCCESS);
  TaskLog log(dispatcher_);
  auto copy = [&](uint64_t count) {
    return HcclMemcpyAsync(dispatcher_, b.get(), kFour + 1, a.get(), count, kD2D, sub.wrapped, kNoRank, kOnChip);
  };
  EXPECT_EQ(copy(kFour), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 1u);
  EXPECT_EQ(copy(kFour + 1), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 3u);
  EXPECT_EQ(log.tasks[1].dma.size, kFour);
  EXPECT_EQ(log.tasks[2].dma.size, 1u);
  EXPECT_EQ(log.tasks[2].dma.dst, b.at(kFour));
}

TEST_F(HcclMemcpySplit, ReductionsSplitAtWholeElements) {
  ropeway::comm::SetMaxPieceBytesForTest(10);
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(std::vector<uint8_t>(64, 0));
  b.Write(std::vector<uint8_t>(64, 0));
  for (u64 attribute : {INLINE_REDUCE_BITMASK, u64{0}}) {
    TaskLog log(dispatcher_);
    EXPECT_EQ(HcclReduceAsync(dispatcher_, a.get(), 5, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, wrapped_, b.get(), 3, kOnChip, attribute),
              HCCL_SUCCESS);
    ASSERT_EQ(log.tasks.size(), 3u);
    EXPECT_EQ(log.tasks[0].reduce.size, 8u);
    EXPECT_EQ(log.tasks[1].reduce.dst, b.at(8));
    EXPECT_EQ(log.tasks[2].reduce.size, 4u);
  }
  Sync();
}

}  // namespace hccl_memcpy_split_test
