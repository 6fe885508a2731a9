// aclrtStreamAbort throws a stream's work away and leaves a usable stream; aclrtStreamStop only stops it.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace stream_abort_test {

using StreamAbort = StreamTest;

TEST_F(StreamAbort, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  ForeignContext foreign;
  ExpectAll({
      {"stale, no context", ACL_ERROR_RT_INVALID_HANDLE, [&] { return WithoutContext([&] { return aclrtStreamAbort(stale); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtStreamAbort(stream_); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtStreamAbort(foreign.stream()); }},
  });
}

TEST_F(StreamAbort, IdleStreamIsFineAlsoTheDefaultOne) {
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(StreamAbort, QueuedWorkIsThrownAwayAndTheStreamStaysUsable) {
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  NeverRecorded forever;
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 5, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 5));
}

TEST_F(StreamAbort, DroppedRecordLeavesTheEventUnrecorded) {
  NeverRecorded forever;
  TestEvent by_default(EventKind::kDefault), ex(EventKind::kEx);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(by_default.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(ex.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(RecordedStatus(by_default.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(RecordedStatus(ex.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeEvent(by_default.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, by_default.get()), ACL_ERROR_RT_PARAM_INVALID) << "as never recorded";
}

TEST_F(StreamAbort, StreamsWaitingForADroppedRecordStayBlockedUntilAborted) {
  NeverRecorded forever;
  TestEvent event(EventKind::kDefault);
  TestStream waiter;
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiter.get(), 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamAbort(waiter.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS);
}

TEST_F(StreamAbort, OtherStreamsGoOn) {
  TestStream other;
  NeverRecorded forever;
  int count = 0;
  Hold hold(other.get());
  ASSERT_EQ(aclrtLaunchHostFunc(other.get(), &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

// Whether the waiter is inside its call when the abort comes is not known; that it leaves, and with which codes, is.
TEST_F(StreamAbort, BlockedWaitersLeave) {
  NeverRecorded forever;
  TestEvent event(EventKind::kEx);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  aclError by_stream = kNotCalled, by_event = kNotCalled;
  std::thread one([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    by_stream = aclrtSynchronizeStream(stream_);
  });
  std::thread two([&] { by_event = aclrtSynchronizeEvent(event.get()); });
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  one.join();
  two.join();
  EXPECT_TRUE(by_stream == ACL_SUCCESS || by_stream == ACL_ERROR_RT_STREAM_ABORT) << by_stream;
  EXPECT_TRUE(by_event == ACL_SUCCESS || by_event == ACL_ERROR_RT_STREAM_ABORT) << by_event;
}

TEST_F(StreamAbort, FullQueueSubmitterIsReleased) {
  NeverRecorded forever;
  DeviceBuffer block(64);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  std::thread submitter([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclError result = ACL_SUCCESS;
    for (int i = 0; i < 5000 && result == ACL_SUCCESS; ++i) {
      result = aclrtMemsetAsync(block.get(), 64, 1, 64, stream_);
    }
    EXPECT_TRUE(result == ACL_SUCCESS || result == ACL_ERROR_RT_STREAM_ABORT) << result;
  });
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  submitter.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

using StreamStop = StreamTest;

TEST_F(StreamStop, NullIsRejectedHere) { EXPECT_EQ(aclrtStreamStop(nullptr), ACL_ERROR_RT_PARAM_INVALID); }

TEST_F(StreamStop, StaleHandleIsRejected) {
  aclrtStream stale = StaleStream();
  EXPECT_EQ(aclrtStreamStop(stale), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(StreamStop, AbortThenClearsTheQueue) {
  NeverRecorded forever;
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamStop(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  int count = 0;
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

}  // namespace stream_abort_test
}  // namespace ropeway_test
