// aclrtSynchronizeDevice and its form with a timeout: what they wait for, for how long, and which error they deliver.
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace synchronize_device_test {

using SynchronizeDevice = StreamTest;

TEST_F(SynchronizeDevice, NeedsAContext) {
  EXPECT_EQ(WithoutContext([] { return aclrtSynchronizeDevice(); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([] { return aclrtSynchronizeDeviceWithTimeout(1000); }), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(SynchronizeDevice, TimeoutZeroOrBelowMinusOneIsRejectedBeforeTheContext) {
  for (int32_t timeout : {0, -2, INT_MIN}) {
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), ACL_ERROR_RT_PARAM_INVALID) << timeout;
    EXPECT_EQ(WithoutContext([&] { return aclrtSynchronizeDeviceWithTimeout(timeout); }), ACL_ERROR_RT_PARAM_INVALID) << timeout;
  }
}

TEST_F(SynchronizeDevice, WaitsForEveryStreamOfTheContextIncludingTheDefaultOne) {
  TestStream other;
  int count = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(other.get(), &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(count, 3);
}

TEST_F(SynchronizeDevice, MinusOneAndLongTimeoutsWait) {
  int count = 0;
  for (int32_t timeout : {-1, INT_MAX}) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), ACL_SUCCESS) << timeout;
  }
  EXPECT_EQ(count, 2);
}

TEST_F(SynchronizeDevice, ExceededTimeoutIsReportedAndTheWorkGoesOn) {
  int count = 0;
  Hold hold(stream_);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-1), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(SynchronizeDevice, OtherContextsOfTheDeviceAreNotWaitedFor) {
  ForeignContext foreign;
  StreamGate gate;
  foreign.Run([&] { ASSERT_EQ(gate.Close(foreign.stream()), ACL_SUCCESS); });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(foreign.stream()), ACL_STREAM_STATUS_NOT_READY);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
}

TEST_F(SynchronizeDevice, DeliversAnAsynchronousErrorOnce) {
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(SynchronizeDevice, OneErrorOfSeveralStreamsIsReturnedAndAllAreConsumed) {
  TestStream other;
  FailingCopy copy;
  int count = 0;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(copy.Submit(other.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(other.get(), &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(count, 1) << "continue mode waits for all streams";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
}

TEST_F(SynchronizeDevice, TimeoutLeavesTheErrorForTheNextCall) {
  FailingCopy copy;
  Hold hold(stream_);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_SYS_DMA);
}

TEST_F(SynchronizeDevice, SkipsStreamsThatDoNotRunByThemselves) {
  for (uint32_t flag : {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    TestStream other(0, flag);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS) << flag;
  }
}

TEST_F(SynchronizeDevice, StreamsCanBeMadeAndUnmadeWhileItWaits) {
  Hold hold(stream_);
  std::thread waiter([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  });
  for (int i = 0; i < 20; ++i) {
    TestStream stream;
    EXPECT_EQ(aclrtMemsetAsync(nullptr, 0, 0, 0, stream.get()), ACL_SUCCESS);
  }
  hold.Open();
  waiter.join();
}

}  // namespace synchronize_device_test
}  // namespace ropeway_test
