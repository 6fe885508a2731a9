// Continue mode delivers a failure once and goes on; stop mode fails the whole context until the device is reset.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace stream_failure_mode_test {

using StreamFailureMode = StreamTest;

TEST_F(StreamFailureMode, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  ForeignContext foreign;
  ExpectAll({
      {"stale, no context", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return WithoutContext([&] { return aclrtSetStreamFailureMode(stale, ACL_STOP_ON_FAILURE); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtSetStreamFailureMode(foreign.stream(), ACL_STOP_ON_FAILURE); }},
  });
}

TEST_F(StreamFailureMode, OnlyBitZeroCountsAndTheSameModeAgainIsFine) {
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, 0xFFFFFFFFFFFFFFFEull), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, 3), ACL_SUCCESS);
}

TEST_F(StreamFailureMode, DefaultStreamCanBeSetToo) { EXPECT_EQ(aclrtSetStreamFailureMode(nullptr, ACL_STOP_ON_FAILURE), ACL_SUCCESS); }

TEST_F(StreamFailureMode, StopCannotBeTakenBack) {
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(StreamFailureMode, DeviceOnlyStreamHasNone) {
  TestStream device_only(0, ACL_STREAM_DEVICE_USE_ONLY);
  EXPECT_EQ(aclrtSetStreamFailureMode(device_only.get(), ACL_STOP_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

using ContinueOnFailure = StreamTest;

TEST_F(ContinueOnFailure, RestOfTheStreamRuns) {
  DeviceBuffer block(64);
  FailingCopy copy;
  int count = 0;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 9));
}

TEST_F(ContinueOnFailure, SeveralFailuresAreDeliveredAsOne) {
  FailingCopy copy;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(ContinueOnFailure, SubmissionsAndQueriesDoNotReportIt) {
  FailingCopy copy;
  DeviceBuffer block(64);
  TestEvent event(EventKind::kEx);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
}

TEST_F(ContinueOnFailure, PageableCopyIsADeliveryPointAndCopiesNothing) {
  FailingCopy copy;
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  std::vector<uint8_t> pageable(64, 2);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), 64, pageable.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(ContinueOnFailure, WaitersBehindAFailedTaskAreReleased) {
  FailingCopy copy;
  TestStream other;
  TestEvent event(EventKind::kDefault);
  DeviceBuffer block(64);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other.get(), event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, other.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS) << "the failure belongs to the other stream";
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 9));
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
}

// Fails one stream of the default context in stop mode.
class StopOnFailure : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  }
  void Fail() {
    FailingCopy copy;
    ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  }
};

TEST_F(StopOnFailure, RestOfTheStreamDoesNotRun) {
  ForeignContext observer;  // reads the memory from a context that is not failed
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  FailingCopy copy;
  int count = 0;
  Hold hold(stream_);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(count, 0);
  observer.Run([&] { EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1)); });
}

TEST_F(StopOnFailure, EveryCallInTheContextReturnsTheErrorAgainAndAgain) {
  TestStream other;
  TestEvent event(EventKind::kEx, ACL_EVENT_SYNC);
  DeviceBuffer block(64);
  auto stream_status = ACL_STREAM_STATUS_RESERVED;
  aclrtEventRecordedStatus event_status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  ASSERT_EQ(aclrtRecordEvent(event.get(), other.get()), ACL_SUCCESS);
  Fail();
  const std::vector<Case> calls = {
      {"synchronise", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtSynchronizeStream(stream_); }},
      {"synchronise another stream", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtSynchronizeStream(other.get()); }},
      {"synchronise the device", ACL_ERROR_RT_SYS_DMA, [] { return aclrtSynchronizeDevice(); }},
      {"query", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtStreamQuery(stream_, &stream_status); }},
      {"query another stream", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtStreamQuery(other.get(), &stream_status); }},
      {"event query", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtQueryEventStatus(event.get(), &event_status); }},
      {"event synchronise", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtSynchronizeEvent(event.get()); }},
      {"submit", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtMemsetAsync(block.get(), 64, 1, 64, stream_); }},
      {"submit to another stream", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtMemsetAsync(block.get(), 64, 1, 64, other.get()); }},
      {"record", ACL_ERROR_RT_SYS_DMA, [&] { return aclrtRecordEvent(event.get(), other.get()); }},
  };
  ExpectAll(calls);
  ExpectAll(calls);
}

TEST_F(StopOnFailure, AnotherStreamOfTheContextFailsItToo) {
  TestStream other;
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(other.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_ERROR_RT_SYS_DMA) << "stop mode holds for the whole context";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
}

TEST_F(StopOnFailure, SettingStopAgainOnTheFailedStreamIsRefused) {
  Fail();
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(StopOnFailure, OtherContextsAreNotAffected) {
  ForeignContext foreign;
  Fail();
  foreign.Run([&] {
    int count = 0;
    EXPECT_EQ(aclrtLaunchHostFunc(foreign.stream(), &CountUp, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_EQ(count, 1);
  });
}

TEST_F(StopOnFailure, WaitingFromAnotherContextDoesNotLoseThatContext) {
  ForeignContext foreign(1);
  Fail();
  foreign.Run([&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, 1);
  });
}

TEST_F(StopOnFailure, ResetMakesTheDeviceHealthyAgain) {
  Fail();
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "continue mode again";
}

}  // namespace stream_failure_mode_test
}  // namespace ropeway_test
