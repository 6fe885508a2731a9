// aclrtSynchronizeStream, its form with a timeout, and aclrtStreamQuery.
#include <atomic>
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace synchronize_stream_test {

using SynchronizeStream = StreamTest;

TEST_F(SynchronizeStream, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  ExpectAll({
      {"timeout, stale, no context", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return WithoutContext([&] { return aclrtSynchronizeStreamWithTimeout(stale, -2); }); }},
      {"stale, no context", ACL_ERROR_RT_INVALID_HANDLE, [&] { return WithoutContext([&] { return aclrtSynchronizeStream(stale); }); }},
      {"timed: stale, no context", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return WithoutContext([&] { return aclrtSynchronizeStreamWithTimeout(stale, 1); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtSynchronizeStream(stream_); }); }},
      {"null, no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtSynchronizeStream(nullptr); }); }},
      {"timed: no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtSynchronizeStreamWithTimeout(stream_, 1); }); }},
  });
}

TEST_F(SynchronizeStream, ZeroTimeoutIsRejected) { EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_PARAM_INVALID); }

TEST_F(SynchronizeStream, TimeoutBelowMinusOneIsRejected) {
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, INT_MIN), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(SynchronizeStream, IdleStreamReturnsAtOnce) {
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -1), ACL_SUCCESS);
}

TEST_F(SynchronizeStream, WorkIsDoneAndInOrder) {
  std::vector<int> order;
  struct Step {
    std::vector<int>* order;
    int number;
  };
  std::vector<Step> steps;
  for (int i = 0; i < 50; ++i) steps.push_back({&order, i});
  auto run = [](void* data) {
    auto* step = static_cast<Step*>(data);
    step->order->push_back(step->number);
  };
  for (auto& step : steps) ASSERT_EQ(aclrtLaunchHostFunc(stream_, run, &step), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(SynchronizeStream, CopiesAreVisibleToTheHost) {
  constexpr size_t kSize = 1 << 20;
  DeviceBuffer block(kSize);
  PinnedBuffer in(kSize), out(kSize);
  auto bytes = Pattern(kSize, 11);
  std::memcpy(in.get(), bytes.data(), kSize);
  ASSERT_EQ(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(out.get(), bytes.data(), kSize), 0);
}

TEST_F(SynchronizeStream, ExceededTimeoutKeepsTheWorkAndTheStream) {
  int count = 0;
  Hold hold(stream_);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 2), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -1), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(SynchronizeStream, OneStreamDoesNotWaitForAnother) {
  TestStream other;
  Hold hold(other.get());
  DeviceBuffer block(64);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "nor does the default stream";
  EXPECT_EQ(StatusOf(other.get()), ACL_STREAM_STATUS_NOT_READY);
}

TEST_F(SynchronizeStream, ForeignContextIsAcceptedAndTheOwnOneStays) {
  ForeignContext foreign(1);
  int count = 0;
  foreign.Run([&] { ASSERT_EQ(aclrtLaunchHostFunc(foreign.stream(), &CountUp, &count), ACL_SUCCESS); });
  EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(foreign.stream(), 1000), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
}

// The vendor's library puts the restored context into the explicit slot. A default slot must stay one: only that
// binding survives the device's reset and works again when any thread sets the device.
TEST_F(SynchronizeStream, ForeignContextLeavesTheDefaultSlot) {
  Worker worker;
  ForeignContext foreign(1);
  worker.Do([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  });
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  worker.Do([] { EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL); });
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  worker.Do([] { EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS); });
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
}

TEST_F(SynchronizeStream, DeliversAFailureOnceInContinueMode) {
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(SynchronizeStream, OneOfManyWaitersGetsTheFailure) {
  constexpr int kThreads = 8;
  FailingCopy copy;
  Hold hold(stream_);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  std::atomic<int> failed{0}, succeeded{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      aclError result = aclrtSynchronizeStream(stream_);
      failed += result == ACL_ERROR_RT_SYS_DMA;
      succeeded += result == ACL_SUCCESS;
    });
  }
  hold.Open();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(succeeded, kThreads - 1);
}

TEST_F(SynchronizeStream, ManyThreadsSubmitToOneStreamAndWait) {
  constexpr int kThreads = 16, kRounds = 50;
  DeviceBuffer block(kThreads * 64);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int round = 1; round <= kRounds; ++round) {
        ASSERT_EQ(aclrtMemsetAsync(block.at(static_cast<size_t>(i) * 64), 64, round, 64, stream_), ACL_SUCCESS);
        if (round % 10 == 0) {
          ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
          uint8_t byte = 0;
          ASSERT_EQ(aclrtMemcpy(&byte, 1, block.at(static_cast<size_t>(i) * 64), 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
          ASSERT_EQ(byte, round);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(block.Read(kThreads * 64), std::vector<uint8_t>(kThreads * 64, kRounds));
}

using StreamQuery = StreamTest;

TEST_F(StreamQuery, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  auto status = ACL_STREAM_STATUS_RESERVED;
  ExpectAll({
      {"null output, stale, no context", ACL_ERROR_INVALID_PARAM,
       [&] { return WithoutContext([&] { return aclrtStreamQuery(stale, nullptr); }); }},
      {"stale, no context", ACL_ERROR_RT_INVALID_HANDLE, [&] { return WithoutContext([&] { return aclrtStreamQuery(stale, &status); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtStreamQuery(stream_, &status); }); }},
      {"null stream, no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtStreamQuery(nullptr, &status); }); }},
  });
  EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
}

TEST_F(StreamQuery, IdleIsCompleteHeldIsNotReady) {
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
  Hold hold(stream_);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  hold.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamQuery, PollingAloneReachesCompletion) {
  DeviceBuffer block(4096);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 4096, 3, 4096, stream_), ACL_SUCCESS);
  while (StatusOf(stream_) != ACL_STREAM_STATUS_COMPLETE) std::this_thread::yield();
  EXPECT_EQ(block.Read(4096), std::vector<uint8_t>(4096, 3));
}

TEST_F(StreamQuery, ForeignContextIsAccepted) {
  ForeignContext foreign;
  EXPECT_EQ(StatusOf(foreign.stream()), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamQuery, NeverReportsATasksErrorInContinueMode) {
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  while (StatusOf(stream_) != ACL_STREAM_STATUS_COMPLETE) std::this_thread::yield();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
}

}  // namespace synchronize_stream_test
}  // namespace ropeway_test
