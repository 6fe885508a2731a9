// Creating streams: with and without configuration, priorities, flags, the limit, and ids.
#include <climits>
#include <set>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace create_stream_test {

void* const kUntouched = reinterpret_cast<void*>(0x77);

uint32_t PriorityOf(aclrtStream stream) {
  uint32_t priority = 77;
  EXPECT_EQ(aclrtStreamGetPriority(stream, &priority), ACL_SUCCESS);
  return priority;
}

uint32_t FlagsOf(aclrtStream stream) {
  uint32_t flags = 0x7777;
  EXPECT_EQ(aclrtStreamGetFlags(stream, &flags), ACL_SUCCESS);
  return flags;
}

using CreateStream = DeviceTest;

TEST_F(CreateStream, NullThenNoContext) {
  aclrtStream stream = kUntouched;
  EXPECT_EQ(WithoutContext([] { return aclrtCreateStream(nullptr); }), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([] { return aclrtCreateStreamWithConfig(nullptr, 0, 0); }), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([&] { return aclrtCreateStream(&stream); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([&] { return aclrtCreateStreamWithConfig(&stream, 0, 0); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(stream, kUntouched);
}

TEST_F(CreateStream, PlainOneHasHighestPriorityAndNoFlags) {
  TestStream stream;
  EXPECT_EQ(PriorityOf(stream.get()), 0u);
  EXPECT_EQ(FlagsOf(stream.get()), 0u);
}

TEST_F(CreateStream, PriorityIsClampedWithoutError) {
  const std::pair<uint32_t, uint32_t> priorities[] = {
      {0, 0}, {3, 3}, {7, 7}, {8, 7}, {INT_MAX, 7}, {0x80000000u, 0}, {UINT_MAX, 0},
  };
  for (auto [asked, given] : priorities) {
    TestStream stream(asked, 0);
    EXPECT_EQ(PriorityOf(stream.get()), given) << asked;
  }
}

TEST_F(CreateStream, FlagsAreReportedAndUnknownBitsDropped) {
  const std::pair<uint32_t, uint32_t> flags[] = {
      {0, 0},
      {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_LAUNCH},
      {ACL_STREAM_FAST_SYNC, ACL_STREAM_FAST_SYNC},
      {ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC},
      {ACL_STREAM_PERSISTENT, ACL_STREAM_PERSISTENT},
      {ACL_STREAM_HUGE, ACL_STREAM_HUGE},
      {ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_CPU_SCHEDULE},
      {ACL_STREAM_DEVICE_USE_ONLY, ACL_STREAM_DEVICE_USE_ONLY},
      {0xFFFFFF00u, 0},
      {0xFFFFFF00u | ACL_STREAM_FAST_SYNC, ACL_STREAM_FAST_SYNC},
  };
  for (auto [asked, given] : flags) {
    TestStream stream(0, asked);
    EXPECT_EQ(FlagsOf(stream.get()), given) << asked;
  }
}

TEST_F(CreateStream, DeviceOnlyWithAnyOtherKnownFlagIsRejected) {
  for (uint32_t other : {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_PERSISTENT, ACL_STREAM_HUGE, ACL_STREAM_CPU_SCHEDULE}) {
    aclrtStream stream = kUntouched;
    EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY | other), ACL_ERROR_RT_PARAM_INVALID) << other;
    EXPECT_EQ(stream, kUntouched);
  }
}

TEST_F(CreateStream, FastSyncAndFastLaunchStreamsWork) {
  DeviceBuffer block(256);
  for (uint32_t flag : {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC}) {
    TestStream stream(0, flag);
    EXPECT_EQ(aclrtMemsetAsync(block.get(), 256, static_cast<int32_t>(flag), 256, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    EXPECT_EQ(block.Read(256), std::vector<uint8_t>(256, static_cast<uint8_t>(flag)));
  }
}

TEST_F(CreateStream, StreamsThatDoNotRunByThemselvesAreCompleteAtOnce) {
  for (uint32_t flag : {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    TestStream stream(0, flag);
    EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), 1), ACL_SUCCESS) << flag;
    EXPECT_EQ(StatusOf(stream.get()), ACL_STREAM_STATUS_COMPLETE) << flag;
  }
}

TEST_F(CreateStream, IdsOfLiveStreamsDiffer) {
  std::set<int32_t> ids;
  std::vector<aclrtStream> streams(50);
  for (auto& stream : streams) {
    int32_t id = -1;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
    EXPECT_GE(id, 0);
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
  for (auto stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(CreateStream, HandleIsNotReusedAtOnce) {
  aclrtStream stale = StaleStream();
  TestStream fresh;
  EXPECT_NE(fresh.get(), stale);
  EXPECT_EQ(aclrtSynchronizeStream(stale), ACL_ERROR_RT_INVALID_HANDLE);
}

using StreamAvailableNum = DeviceTest;

TEST_F(StreamAvailableNum, NullThenNoContext) {
  uint32_t count = 77;
  EXPECT_EQ(WithoutContext([] { return aclrtGetStreamAvailableNum(nullptr); }), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([&] { return aclrtGetStreamAvailableNum(&count); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(count, 77u);
}

TEST_F(StreamAvailableNum, FallsAndRisesWithStreams) {
  uint32_t before = 0, during = 0, after = 0;
  ASSERT_EQ(aclrtGetStreamAvailableNum(&before), ACL_SUCCESS);
  {
    TestStream stream;
    ASSERT_EQ(aclrtGetStreamAvailableNum(&during), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtGetStreamAvailableNum(&after), ACL_SUCCESS);
  EXPECT_EQ(during, before - 1);
  EXPECT_EQ(after, before);
}

TEST_F(StreamAvailableNum, IsExactlyTheNumberThatCanBeMade) {
  uint32_t available = 0;
  ASSERT_EQ(aclrtGetStreamAvailableNum(&available), ACL_SUCCESS);
  EXPECT_LT(available, 1984u) << "the default stream counts";
  std::vector<aclrtStream> streams(available, nullptr);
  for (auto& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  uint32_t left = 77;
  EXPECT_EQ(aclrtGetStreamAvailableNum(&left), ACL_SUCCESS);
  EXPECT_EQ(left, 0u);
  aclrtStream extra = kUntouched;
  EXPECT_EQ(aclrtCreateStream(&extra), ACL_ERROR_RT_NO_STREAM_RESOURCE);
  EXPECT_EQ(extra, kUntouched);
  for (auto stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStream(&extra), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(extra), ACL_SUCCESS);
}

TEST_F(CreateStream, ManyThreadsCreateUseAndDestroy) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 16; ++i) {
    threads.emplace_back([i] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      DeviceBuffer block(4096);
      PinnedBuffer in(4096), out(4096);
      for (uint32_t round = 0; round < 20; ++round) {
        TestStream stream(round % 8, 0);
        auto bytes = Pattern(4096, i * 100 + round);
        std::memcpy(in.get(), bytes.data(), 4096);
        ASSERT_EQ(aclrtMemcpyAsync(block.get(), 4096, in.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemcpyAsync(out.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
        EXPECT_EQ(std::memcmp(out.get(), bytes.data(), 4096), 0);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace create_stream_test
}  // namespace ropeway_test
