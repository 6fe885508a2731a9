// Who gets a block that was freed: the same stream at once; other streams by the three switches; and nobody whose work could
// meet the work of the one who freed it.
#include "tests/conformance/memory/pool_fixture.h"

namespace ropeway_test::bytes {
namespace mem_pool_reuse_test {

constexpr int kEvents = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES;
constexpr int kOpportunistic = ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC;
constexpr int kInternal = ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
constexpr int kNone = 0;

class MemPoolReuse : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    Keep(kGiB);
  }
  aclrtEvent Event() {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    return event;
  }
  // `waiter` runs behind what `stream` has now.
  void Order(aclrtStream stream, aclrtStream waiter) {
    aclrtEvent event = Event();
    ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
};

TEST_F(MemPoolReuse, SameStreamAlways) {
  OnlySwitch(kNone);
  HeldStream held(stream_);
  void* block = Malloc(kGrain, stream_);
  Free(block, stream_);
  EXPECT_EQ(Malloc(1, stream_), block) << "its work comes behind the free, whenever that runs";
  EXPECT_EQ(Reserved(), kGrain);
  EXPECT_EQ(Used(), kGrain);
  Free(block, stream_);
}

TEST_F(MemPoolReuse, SameStreamKeepsTheBytesApart) {
  PinnedBuffer first(4096), second(4096), out(8192);
  Fill(first, Pattern(4096, 1));
  Fill(second, Pattern(4096, 2));
  HeldStream held(stream_);
  void* blocks[2] = {};
  for (int i = 0; i < 2; ++i) {
    blocks[i] = Malloc(4096, stream_);
    ASSERT_EQ(aclrtMemcpyAsync(blocks[i], 4096, (i == 0 ? first : second).get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(out.get() + i * 4096, 4096, blocks[i], 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    Free(blocks[i], stream_);
  }
  EXPECT_EQ(blocks[0], blocks[1]);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(out.get(), 4096), Pattern(4096, 1));
  EXPECT_EQ(BytesAt(out.get() + 4096, 4096), Pattern(4096, 2));
}

TEST_F(MemPoolReuse, OnlyForItsOwnSize) {
  void* block = Malloc(2 * kGrain, stream_);
  Free(block, stream_);
  void* small = Malloc(kGrain, stream_);
  EXPECT_NE(small, block);
  EXPECT_EQ(Malloc(2 * kGrain - 5, stream_), block);
  Free(block, stream_);
  Free(small, stream_);
}

TEST_F(MemPoolReuse, BlocksOfOtherSizesAreGivenBackWhenThePoolIsFull) {
  MakePool(2 * kGrain);
  Keep(kGiB);
  Free(Malloc(kGrain, stream_), stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  void* all = Malloc(2 * kGrain, stream_);
  EXPECT_EQ(Reserved(), 2 * kGrain);
  Free(all, stream_);
}

TEST_F(MemPoolReuse, AnotherStreamGetsOtherMemoryWhileTheFreeIsQueued) {
  HeldStream held(stream_);
  void* block = Malloc(kGrain, stream_);
  Free(block, stream_);
  void* next = Malloc(kGrain, other_);
  EXPECT_NE(next, block);
  EXPECT_EQ(Reserved(), 2 * kGrain);
  Free(next, other_);
}

TEST_F(MemPoolReuse, OpportunisticOnceTheFreeHasRun) {
  void* block = Malloc(kGrain, stream_);
  Free(block, stream_);
  OnlySwitch(kNone);
  aclrtEvent done = Event();
  ASSERT_EQ(aclrtRecordEvent(done, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(done), ACL_SUCCESS);  // waits, and tells the pool nothing
  void* next = Malloc(kGrain, other_);
  EXPECT_NE(next, block) << "no switch allows it";
  Free(next, other_);
  OnlySwitch(kOpportunistic);
  EXPECT_EQ(Malloc(kGrain, other_), next) << "its own block first";
  EXPECT_EQ(Malloc(kGrain, other_), block);
  Free(block, other_);
  Free(next, other_);
  EXPECT_EQ(aclrtDestroyEvent(done), ACL_SUCCESS);
}

TEST_F(MemPoolReuse, SynchronisedMemoryIsForEverybody) {
  OnlySwitch(kNone);
  void* block = Malloc(kGrain, stream_);
  Free(block, stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Malloc(kGrain, other_), block);
  Free(block, other_);
}

TEST_F(MemPoolReuse, StreamThatWaitsForTheFree) {
  for (int on : {kEvents, kNone}) {
    OnlySwitch(on);
    HeldStream held(stream_);
    void* block = Malloc(kGrain, stream_);
    Free(block, stream_);
    Order(stream_, other_);
    void* next = Malloc(kGrain, other_);
    EXPECT_EQ(next == block, on == kEvents);
    Free(next, other_);
  }
}

TEST_F(MemPoolReuse, StreamThatWaitsForSomethingEarlier) {
  OnlySwitch(kEvents);
  HeldStream held(stream_);
  void* block = Malloc(kGrain, stream_);
  Order(stream_, other_);
  Free(block, stream_);
  void* next = Malloc(kGrain, other_);
  EXPECT_NE(next, block);
  Free(next, other_);
}

TEST_F(MemPoolReuse, BytesOfAStreamThatWaits) {
  OnlySwitch(kEvents);
  PinnedBuffer out(4096);
  DeviceBuffer source(4096);
  source.Write(Pattern(4096, 3));
  HeldStream held(stream_);
  void* block = Malloc(4096, stream_);
  ASSERT_EQ(aclrtMemcpyAsync(block, 4096, source.get(), 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(out.get(), 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  Free(block, stream_);
  Order(stream_, other_);
  ASSERT_EQ(Malloc(4096, other_), block);
  ASSERT_EQ(aclrtMemsetAsync(block, 4096, 0, 4096, other_), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(out.get(), 4096), Pattern(4096, 3));
  Free(block, other_);
}

TEST_F(MemPoolReuse, FullPoolMakesTheStreamWait) {
  MakePool(kGrain);
  OnlySwitch(kInternal);
  PinnedBuffer out(4096);
  DeviceBuffer source(4096);
  source.Write(Pattern(4096, 4));
  HeldStream held(stream_);
  void* block = Malloc(4096, stream_);
  ASSERT_EQ(aclrtMemcpyAsync(block, 4096, source.get(), 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(out.get(), 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  Free(block, stream_);
  ASSERT_EQ(Malloc(4096, other_), block);
  ASSERT_EQ(aclrtMemsetAsync(block, 4096, 0, 4096, other_), ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  ASSERT_EQ(aclrtStreamQuery(other_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "it has to wait for the stream that freed the block";
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(out.get(), 4096), Pattern(4096, 4));
  Free(block, other_);
}

TEST_F(MemPoolReuse, FullPoolWithoutTheSwitchIsExhausted) {
  MakePool(kGrain);
  OnlySwitch(kNone);
  HeldStream held(stream_);
  Free(Malloc(1, stream_), stream_);
  void* block = this;
  EXPECT_EQ(aclrtMemPoolMallocAsync(&block, 1, pool_, other_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(block, this);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  Free(Malloc(1, other_), other_);
}

TEST_F(MemPoolReuse, StreamThatIsGone) {
  OnlySwitch(kOpportunistic);
  aclrtStream gone = nullptr;
  ASSERT_EQ(aclrtCreateStream(&gone), ACL_SUCCESS);
  void* block = Malloc(kGrain, gone);
  Free(block, gone);
  ASSERT_EQ(aclrtDestroyStream(gone), ACL_SUCCESS);
  EXPECT_EQ(Malloc(kGrain, stream_), block);
  Free(block, stream_);
}

}  // namespace mem_pool_reuse_test
}  // namespace ropeway_test::bytes
