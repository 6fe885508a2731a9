// Stream-side waits: the checks, the table of what an unrecorded, a same-stream and a complete event mean for each
// kind, which record a wait belongs to, and the time limits.
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace stream_wait_event_test {

constexpr EventKind kAllKinds[] = {EventKind::kDefault, EventKind::kClassic, EventKind::kEx};

// Whether the memset behind a wait in `stream` has run, seen without waiting for the stream.
class Marker {
 public:
  Marker() { block_.Write(std::vector<uint8_t>(64, 1)); }
  aclError Queue(aclrtStream stream) { return aclrtMemsetAsync(block_.get(), 64, 9, 64, stream); }
  bool HasRun() const { return block_.Read(1)[0] == 9; }

 private:
  DeviceBuffer block_{64};
};

using StreamWaitEvent = StreamTest;

TEST_F(StreamWaitEvent, EarlierCheckWins) {
  aclrtStream stale_stream = StaleStream();
  aclrtEvent stale_event = StaleEvent();
  ForeignContext foreign;
  TestEvent event(EventKind::kClassic), device_only(EventKind::kClassic, ACL_EVENT_DEVICE_USE_ONLY);
  ExpectAll({
      {"null event, stale stream, no context", ACL_ERROR_INVALID_PARAM,
       [&] { return WithoutContext([&] { return aclrtStreamWaitEvent(stale_stream, nullptr); }); }},
      {"stale stream, device-only event, no context", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return WithoutContext([&] { return aclrtStreamWaitEvent(stale_stream, device_only.get()); }); }},
      {"stale event, no context", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return WithoutContext([&] { return aclrtStreamWaitEvent(stream_, stale_event); }); }},
      {"device-only event, no context", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return WithoutContext([&] { return aclrtStreamWaitEvent(stream_, device_only.get()); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtStreamWaitEvent(stream_, event.get()); }); }},
      {"null stream, no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtStreamWaitEvent(nullptr, event.get()); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtStreamWaitEvent(foreign.stream(), event.get()); }},
  });
}

TEST_F(StreamWaitEvent, EventWithoutSyncCannotBeWaitedFor) {
  for (uint32_t flag : {ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS}) {
    for (EventKind kind : {EventKind::kClassic, EventKind::kEx}) {
      TestEvent event(kind, flag);
      ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
      EXPECT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << Name(kind) << flag;
    }
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamWaitEvent, UnrecordedExIsANoOp) {
  TestEvent event(EventKind::kEx);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamWaitEvent, UnrecordedDefaultIsRejected) {
  TestEvent event(EventKind::kDefault);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, event.get(), 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(StreamWaitEvent, UnrecordedClassicBlocksUntilALaterRecord) {
  for (uint32_t flag : {ACL_EVENT_SYNC, ACL_EVENT_EXTERNAL}) {
    TestEvent event(EventKind::kClassic, flag);
    TestStream recorder;
    Marker marker;
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
    ASSERT_EQ(marker.Queue(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << flag;
    EXPECT_FALSE(marker.HasRun()) << flag;
    ASSERT_EQ(aclrtRecordEvent(event.get(), recorder.get()), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << flag;
    EXPECT_TRUE(marker.HasRun()) << flag;
  }
}

TEST_F(StreamWaitEvent, RecordedOnTheSameStreamNeverBlocksIt) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS) << Name(kind);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(StreamWaitEvent, CompleteEventHoldsNothingBack) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    TestStream waiter;
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(StreamWaitEvent, HoldsLaterWorkUntilTheRecordRuns) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    TestStream waiter;
    Marker marker;
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
    ASSERT_EQ(marker.Queue(waiter.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiter.get(), 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << Name(kind);
    EXPECT_FALSE(marker.HasRun()) << Name(kind);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_TRUE(marker.HasRun()) << Name(kind);
  }
}

TEST_F(StreamWaitEvent, NullStreamIsTheDefaultOne) {
  TestEvent event(EventKind::kEx);
  Hold hold(stream_);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(nullptr, event.get()), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(DefaultStream()), ACL_STREAM_STATUS_NOT_READY);
}

TEST_F(StreamWaitEvent, LaterRecordDoesNotMoveAWait) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kEx}) {
    ForeignContext foreign;
    TestEvent event(kind);
    TestStream waiter;
    StreamGate later;
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
    foreign.Run([&] {
      ASSERT_EQ(later.Close(foreign.stream()), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(event.get(), foreign.stream()), ACL_SUCCESS);
    });
    EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
    later.Open();
    EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  }
}

TEST_F(StreamWaitEvent, ExRecordMadeAfterTheWaitDoesNotCount) {
  TestEvent event(EventKind::kEx);
  TestStream waiter;
  Hold hold(stream_);
  ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS);
}

TEST_F(StreamWaitEvent, SeveralStreamsWaitForOneEvent) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    TestStream waiters[4];
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    for (auto& waiter : waiters) ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
    for (auto& waiter : waiters) EXPECT_EQ(StatusOf(waiter.get()), ACL_STREAM_STATUS_NOT_READY) << Name(kind);
    hold.Open();
    for (auto& waiter : waiters) EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(StreamWaitEvent, StreamOfAnotherDeviceWaitsForReal) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kEx}) {
    ForeignContext other(1);
    TestEvent event(kind);
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    other.Run([&] {
      EXPECT_EQ(aclrtStreamWaitEvent(other.stream(), event.get()), ACL_SUCCESS) << Name(kind);
      EXPECT_EQ(StatusOf(other.stream()), ACL_STREAM_STATUS_NOT_READY) << Name(kind);
    });
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(other.stream()), ACL_SUCCESS) << Name(kind);
  }
}

using StreamWaitEventWithTimeout = StreamTest;

TEST_F(StreamWaitEventWithTimeout, NullEventIs107000HereAndNegativeTimeoutsAreRejected) {
  TestEvent event(EventKind::kEx);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, nullptr, 0), ACL_ERROR_RT_PARAM_INVALID);
  for (int32_t timeout : {-1, -2, INT_MIN}) {
    EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, event.get(), timeout), ACL_ERROR_RT_PARAM_INVALID) << timeout;
  }
}

TEST_F(StreamWaitEventWithTimeout, HandlesAndContextsAreCheckedAsInThePlainCall) {
  aclrtStream stale_stream = StaleStream();
  aclrtEvent stale_event = StaleEvent();
  ForeignContext foreign;
  TestEvent event(EventKind::kClassic), untimed(EventKind::kEx, ACL_EVENT_TIME_LINE);
  ExpectAll({
      {"stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtStreamWaitEventWithTimeout(stale_stream, event.get(), 0); }},
      {"stale event", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtStreamWaitEventWithTimeout(stream_, stale_event, 0); }},
      {"no sync", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtStreamWaitEventWithTimeout(stream_, untimed.get(), 0); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtStreamWaitEventWithTimeout(stream_, event.get(), 0); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtStreamWaitEventWithTimeout(foreign.stream(), event.get(), 0); }},
  });
}

TEST_F(StreamWaitEventWithTimeout, ExceededLimitIsATaskErrorAndTheStreamGoesOn) {
  NeverRecorded forever;
  Marker marker;
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(stream_, forever.event(), 1), ACL_SUCCESS);
  ASSERT_EQ(marker.Queue(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_TASK_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(marker.HasRun());
}

TEST_F(StreamWaitEventWithTimeout, RecordInTimeIsNoError) {
  TestEvent event(EventKind::kClassic);
  TestStream recorder;
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(stream_, event.get(), INT_MAX), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), recorder.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

using OpWaitTimeout = StreamTest;

TEST_F(OpWaitTimeout, LimitsLaterPlainWaitsAndZeroMeansNever) {
  NeverRecorded forever;
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_TASK_TIMEOUT);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
}

using StreamWaitEventWithFlag = StreamTest;

TEST_F(StreamWaitEventWithFlag, EarlierCheckWins) {
  aclrtStream stale_stream = StaleStream();
  aclrtEvent stale_event = StaleEvent();
  TestEvent ex(EventKind::kEx), classic(EventKind::kClassic), timed(EventKind::kEx, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
  ExpectAll({
      {"null event, stale stream", ACL_ERROR_INVALID_PARAM, [&] { return aclrtStreamWaitEventWithFlag(stale_stream, nullptr, 0, 0); }},
      {"unknown flag, stale stream", ACL_ERROR_INVALID_PARAM, [&] { return aclrtStreamWaitEventWithFlag(stale_stream, ex.get(), 0, 2); }},
      {"external with a timeout, stale stream", ACL_ERROR_INVALID_PARAM,
       [&] { return aclrtStreamWaitEventWithFlag(stale_stream, ex.get(), 1, ACL_EVENT_WAIT_EXTERNAL); }},
      {"stale stream", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return aclrtStreamWaitEventWithFlag(stale_stream, ex.get(), 0, ACL_EVENT_WAIT_EXTERNAL); }},
      {"stale event", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return aclrtStreamWaitEventWithFlag(stream_, stale_event, 0, ACL_EVENT_WAIT_EXTERNAL); }},
      {"external on a classic event", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       [&] { return aclrtStreamWaitEventWithFlag(stream_, classic.get(), 0, ACL_EVENT_WAIT_EXTERNAL); }},
      {"external on an Ex event with more than SYNC", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       [&] { return aclrtStreamWaitEventWithFlag(stream_, timed.get(), 0, ACL_EVENT_WAIT_EXTERNAL); }},
      {"external outside a capture", ACL_ERROR_RT_STREAM_NOT_CAPTURED,
       [&] { return aclrtStreamWaitEventWithFlag(stream_, ex.get(), 0, ACL_EVENT_WAIT_EXTERNAL); }},
  });
}

TEST_F(StreamWaitEventWithFlag, FirstWaitFixesTheFlagAndRecordsHaveTheirOwn) {
  TestEvent event(EventKind::kEx), external(EventKind::kEx);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEventWithFlag(stream_, event.get(), 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(stream_, external.get(), 0, ACL_EVENT_WAIT_EXTERNAL), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, external.get()), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordEvent(external.get(), stream_), ACL_SUCCESS);
}

TEST_F(StreamWaitEventWithFlag, TimeoutIsInSecondsAndAllOnesTakeTheProcessSetting) {
  NeverRecorded forever;
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(stream_, forever.event(), 1, ACL_EVENT_WAIT_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_TASK_TIMEOUT);
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(stream_, forever.event(), UINT_MAX, ACL_EVENT_WAIT_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << "the default is never";
}

}  // namespace stream_wait_event_test
}  // namespace ropeway_test
