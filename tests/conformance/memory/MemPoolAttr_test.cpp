// aclrtMemPoolSetAttr, aclrtMemPoolGetAttr and aclrtMemPoolTrimTo: switches, threshold, what is held and used, and the peaks.
#include "tests/conformance/memory/pool_fixture.h"

namespace ropeway_test::bytes {
namespace mem_pool_attr_test {

class MemPoolAttr : public PoolTest {};
class MemPoolTrimTo : public PoolTest {};

constexpr auto kThreshold = ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
constexpr auto kReservedHigh = ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH;
constexpr auto kUsedHigh = ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;

aclrtMemPoolAttr Attr(int number) { return static_cast<aclrtMemPoolAttr>(number); }

struct Args : CallArgs {
  aclrtMemPool pool = nullptr;
  aclrtMemPoolAttr attr = kThreshold;
  void* value = nullptr;
};

TEST_F(MemPoolAttr, SetChecksInOrder) {
  uint64_t value = kMiB;
  Args valid;
  valid.pool = pool_;
  valid.value = &value;
  ExpectCheckOrder<Args>(
      "aclrtMemPoolSetAttr", valid,
      {{"memPool NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.pool = nullptr; }},
       {"value NULL", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.value = nullptr; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& args) { args.without_context = true; }},
       {"no pool", ACL_ERROR_RT_PARAM_INVALID, [this](Args& args) { args.pool = stream_; }},
       {"attr 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(0); }},
       {"attr 9", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(9); }},
       {"attr 5", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(5); }},
       {"attr 7", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(7); }},
       {"attr 6 to 1 MiB", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(6); }},
       {"attr 8 to 1 MiB", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(8); }}},
      [](const Args& args) { return aclrtMemPoolSetAttr(args.pool, args.attr, args.value); }, [&] { EXPECT_EQ(Get(kThreshold), 0u); });
  EXPECT_EQ(Get(kThreshold), kMiB);
}

TEST_F(MemPoolAttr, GetChecksInOrder) {
  uint64_t value = 77;
  Args valid;
  valid.pool = pool_;
  valid.value = &value;
  ExpectCheckOrder<Args>(
      "aclrtMemPoolGetAttr", valid,
      {{"memPool NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.pool = nullptr; }},
       {"value NULL", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.value = nullptr; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& args) { args.without_context = true; }},
       {"no pool", ACL_ERROR_RT_PARAM_INVALID, [this](Args& args) { args.pool = stream_; }},
       {"attr 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(0); }},
       {"attr 9", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.attr = Attr(9); }}},
      [](const Args& args) { return aclrtMemPoolGetAttr(args.pool, args.attr, args.value); }, [&] { EXPECT_EQ(value, 77u); });
  EXPECT_EQ(value, 0u);
}

TEST_F(MemPoolAttr, SwitchesAre32BitsAndOnAtFirst) {
  for (int attr = 1; attr <= 3; ++attr) {
    uint32_t value[2] = {77, 77};
    EXPECT_EQ(aclrtMemPoolGetAttr(pool_, Attr(attr), value), ACL_SUCCESS);
    EXPECT_EQ(value[0], 1u);
    EXPECT_EQ(value[1], 77u) << "more than 32 bits were written";
    value[0] = 0;
    EXPECT_EQ(aclrtMemPoolSetAttr(pool_, Attr(attr), value), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemPoolGetAttr(pool_, Attr(attr), value), ACL_SUCCESS);
    EXPECT_EQ(value[0], 0u);
    value[0] = 2;
    EXPECT_EQ(aclrtMemPoolSetAttr(pool_, Attr(attr), value), ACL_ERROR_RT_PARAM_INVALID);
  }
}

TEST_F(MemPoolAttr, NewPoolsStartAnew) {
  OnlySwitch(0);
  Keep(kGiB);
  Free(Malloc(1, stream_), stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  MakePool(0);
  uint32_t on = 0;
  EXPECT_EQ(aclrtMemPoolGetAttr(pool_, Attr(1), &on), ACL_SUCCESS);
  EXPECT_EQ(on, 1u);
  for (int attr = 4; attr <= 8; ++attr) EXPECT_EQ(Get(Attr(attr)), 0u) << attr;
}

TEST_F(MemPoolAttr, CountsWhatIsHeldAndUsed) {
  Keep(kGiB);
  const size_t before = FreeDeviceBytes();
  void* one = Malloc(1, stream_);
  void* two = Malloc(kGrain + 1, stream_);
  EXPECT_EQ(Reserved(), 3 * kGrain);
  EXPECT_EQ(Used(), 3 * kGrain);
  EXPECT_EQ(FreeDeviceBytes(), before - 3 * kGrain);
  {
    HeldStream held(stream_);
    Free(one, stream_);
    EXPECT_EQ(Used(), 3 * kGrain) << "the stream has not come to the free";
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
  }
  EXPECT_EQ(Used(), 2 * kGrain);
  EXPECT_EQ(Reserved(), 3 * kGrain) << "back in the pool, not in the device";
  EXPECT_EQ(FreeDeviceBytes(), before - 3 * kGrain);
  Free(two, stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Used(), 0u);
  EXPECT_EQ(aclrtMemPoolTrimTo(pool_, 0), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), before);
}

TEST_F(MemPoolAttr, PeaksStayUntilTheyAreReset) {
  Keep(kGiB);
  void* one = Malloc(3 * kGrain, stream_);
  Free(one, stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Get(kUsedHigh), 3 * kGrain);
  EXPECT_EQ(Get(kReservedHigh), 3 * kGrain);
  uint64_t zero = 0;
  ASSERT_EQ(aclrtMemPoolSetAttr(pool_, kUsedHigh, &zero), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolSetAttr(pool_, kReservedHigh, &zero), ACL_SUCCESS);
  EXPECT_EQ(Get(kUsedHigh), 0u);
  EXPECT_EQ(Get(kReservedHigh), 3 * kGrain) << "as much as is held now";
  void* two = Malloc(kGrain, stream_);
  EXPECT_EQ(Get(kUsedHigh), kGrain);
  EXPECT_EQ(Get(kReservedHigh), 4 * kGrain);
  Free(two, stream_);
}

#ifndef ROPEWAY_TEST_VENDOR
TEST_F(MemPoolAttr, PoolsAndTheirMemoryAreCounted) {
  Keep(kGiB);
  Free(Malloc(1, stream_), stream_);
  void* block = Malloc(kGrain + 1, stream_);
  ropewayLiveCounts live;
  ASSERT_EQ(ropewayGetLiveCounts(&live), ACL_SUCCESS);
  EXPECT_EQ(live.pools, 1u);
  EXPECT_EQ(live.deviceBlocks, 2u);
  EXPECT_EQ(live.deviceBytes, 3 * kGrain);
  Free(block, stream_);
}
#endif

// --- Giving back --------------------------------------------------------------------------------------------------------

TEST_F(MemPoolTrimTo, ChecksInOrder) {
  Args valid;
  valid.pool = pool_;
  ExpectCheckOrder<Args>(
      "aclrtMemPoolTrimTo", valid,
      {{"memPool NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.pool = nullptr; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& args) { args.without_context = true; }},
       {"no pool", ACL_ERROR_RT_INTERNAL_ERROR, [this](Args& args) { args.pool = stream_; }}},
      [](const Args& args) { return aclrtMemPoolTrimTo(args.pool, 0); }, [] {});
}

TEST_F(MemPoolTrimTo, KeepsAtLeastWhatItIsTold) {
  Keep(kGiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(Malloc(kGrain, stream_));
  for (void* block : blocks) Free(block, stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 4 * kGrain) << "below the threshold";
  ASSERT_EQ(aclrtMemPoolTrimTo(pool_, 4 * kGrain + 1), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 4 * kGrain);
  ASSERT_EQ(aclrtMemPoolTrimTo(pool_, kGrain + 1), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 2 * kGrain) << "what is told now counts, not the threshold";
  ASSERT_EQ(aclrtMemPoolTrimTo(pool_, 0), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 0u);
}

TEST_F(MemPoolTrimTo, LeavesWhatIsUsed) {
  Keep(kGiB);
  void* block = Malloc(kGrain, stream_);
  void* queued = Malloc(kGrain, stream_);
  HeldStream held(stream_);
  Free(queued, stream_);
  ASSERT_EQ(aclrtMemPoolTrimTo(pool_, 0), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 2 * kGrain);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolTrimTo(pool_, 0), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), kGrain);
  Free(block, stream_);
}

TEST_F(MemPoolTrimTo, SynchronisingReturnsWhatIsAboveTheThreshold) {
  const size_t before = FreeDeviceBytes();
  void* blocks[] = {Malloc(kGrain, stream_), Malloc(kGrain, stream_), Malloc(kGrain, stream_)};
  for (void* block : blocks) Free(block, stream_);
  Keep(kGrain + 1);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), kGrain);
  Keep(0);
  EXPECT_EQ(Reserved(), kGrain) << "not before the next synchronise";
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 0u);
  EXPECT_EQ(FreeDeviceBytes(), before);
}

TEST_F(MemPoolTrimTo, MallocTakesWhatPoolsDoNotUse) {
  Keep(UINT64_MAX);
  const size_t all = FreeDeviceBytes() / kGrain * kGrain;
  void* block = Malloc(all, stream_);
  void* plain = nullptr;
  EXPECT_EQ(aclrtMalloc(&plain, all / 2, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  Free(block, stream_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), all);
  ASSERT_EQ(aclrtMalloc(&plain, all / 2, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(Reserved(), 0u);
  EXPECT_EQ(aclrtFree(plain), ACL_SUCCESS);
}

}  // namespace mem_pool_attr_test
}  // namespace ropeway_test::bytes
