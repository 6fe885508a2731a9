// aclrtRecordEvent, aclrtRecordEventWithFlag and aclrtResetEvent.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace record_event_test {

constexpr EventKind kAllKinds[] = {EventKind::kDefault, EventKind::kClassic, EventKind::kEx};

using RecordEvent = StreamTest;

TEST_F(RecordEvent, EarlierCheckWins) {
  aclrtStream stale_stream = StaleStream();
  aclrtEvent stale_event = StaleEvent();
  ForeignContext foreign;
  TestEvent device_only(EventKind::kClassic, ACL_EVENT_DEVICE_USE_ONLY), event(EventKind::kEx);
  ExpectAll({
      {"null event, stale stream, no context", ACL_ERROR_INVALID_PARAM,
       [&] { return WithoutContext([&] { return aclrtRecordEvent(nullptr, stale_stream); }); }},
      {"stale event, no context", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return WithoutContext([&] { return aclrtRecordEvent(stale_event, nullptr); }); }},
      {"stale stream, device-only event", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtRecordEvent(device_only.get(), stale_stream); }},
      {"device-only event, no context", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return WithoutContext([&] { return aclrtRecordEvent(device_only.get(), stream_); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtRecordEvent(event.get(), stream_); }); }},
      {"null stream, no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtRecordEvent(event.get(), nullptr); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtRecordEvent(event.get(), foreign.stream()); }},
  });
}

TEST_F(RecordEvent, NullStreamIsTheDefaultOne) {
  Hold hold(nullptr);
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    ASSERT_EQ(aclrtRecordEvent(event.get(), nullptr), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
  }
}

TEST_F(RecordEvent, EventOfAnotherContextOfTheDeviceIsAccepted) {
  ForeignContext foreign;
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    foreign.Run([&] { EXPECT_EQ(aclrtRecordEvent(event.get(), foreign.stream()), ACL_SUCCESS) << Name(kind); });
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
  }
}

TEST_F(RecordEvent, EventOfAnotherDeviceIsRejected) {
  ForeignContext other(1);
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    other.Run([&] { EXPECT_EQ(aclrtRecordEvent(event.get(), other.stream()), ACL_ERROR_RT_PARAM_INVALID) << Name(kind); });
  }
}

TEST_F(RecordEvent, StandsForTheNewestRecord) {
  for (EventKind kind : kAllKinds) {
    TestStream other;
    TestEvent event(kind);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
    Hold hold(other.get());
    ASSERT_EQ(aclrtRecordEvent(event.get(), other.get()), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
    hold.Open();
    ASSERT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
  }
}

TEST_F(RecordEvent, OlderRecordInFlightDoesNotChangeTheState) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kEx}) {
    ForeignContext foreign;  // its own host-function thread, so that the two gates open one by one
    TestEvent event(kind);
    StreamGate newer;
    {
      Hold older(stream_);
      ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
      foreign.Run([&] {
        ASSERT_EQ(newer.Close(foreign.stream()), ACL_SUCCESS);
        ASSERT_EQ(aclrtRecordEvent(event.get(), foreign.stream()), ACL_SUCCESS);
      });
    }
    EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
    newer.Open();
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  }
}

TEST_F(RecordEvent, FailedRecordLeavesThePreviousState) {
  ForeignContext foreign;
  TestEvent event(EventKind::kDefault);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), foreign.stream()), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_F(RecordEvent, CompletionMeansThatTheWorkBeforeItIsVisible) {
  constexpr size_t kSize = 1 << 18;
  DeviceBuffer block(kSize);
  PinnedBuffer host(kSize);
  for (EventKind kind : kAllKinds) {
    auto bytes = Pattern(kSize, static_cast<uint32_t>(kind) + 20);
    block.Write(bytes);
    TestEvent event(kind);
    ASSERT_EQ(aclrtMemcpyAsync(host.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    while (RecordedStatus(event.get()) != ACL_EVENT_RECORDED_STATUS_COMPLETE) std::this_thread::yield();
    EXPECT_EQ(std::memcmp(host.get(), bytes.data(), kSize), 0) << Name(kind);
  }
}

using RecordEventWithFlag = StreamTest;

TEST_F(RecordEventWithFlag, DefaultIsThePlainCall) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    EXPECT_EQ(aclrtRecordEventWithFlag(event.get(), stream_, ACL_EVENT_RECORD_DEFAULT), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(RecordEventWithFlag, EarlierCheckWins) {
  aclrtEvent stale = StaleEvent();
  TestEvent ex(EventKind::kEx), timed(EventKind::kEx, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), classic(EventKind::kClassic),
      by_default(EventKind::kDefault);
  auto record = [&](aclrtEvent event, uint32_t flag) { return aclrtRecordEventWithFlag(event, stream_, flag); };
  ExpectAll({
      {"null event", ACL_ERROR_INVALID_PARAM, [&] { return record(nullptr, ACL_EVENT_RECORD_EXTERNAL); }},
      {"unknown flag, stale event", ACL_ERROR_INVALID_PARAM, [&] { return record(stale, 2); }},
      {"unknown flag", ACL_ERROR_INVALID_PARAM, [&] { return record(ex.get(), 0xFFFFFFFFu); }},
      {"stale event", ACL_ERROR_RT_INVALID_HANDLE, [&] { return record(stale, ACL_EVENT_RECORD_EXTERNAL); }},
      {"external on a classic event", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return record(classic.get(), ACL_EVENT_RECORD_EXTERNAL); }},
      {"external on a default event", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       [&] { return record(by_default.get(), ACL_EVENT_RECORD_EXTERNAL); }},
      {"external on an Ex event with more than SYNC", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       [&] { return record(timed.get(), ACL_EVENT_RECORD_EXTERNAL); }},
      {"external outside a capture", ACL_ERROR_RT_STREAM_NOT_CAPTURED, [&] { return record(ex.get(), ACL_EVENT_RECORD_EXTERNAL); }},
  });
}

TEST_F(RecordEventWithFlag, FirstRecordFixesTheFlagEvenWhenItFailed) {
  TestEvent plain(EventKind::kEx), external(EventKind::kEx);
  ASSERT_EQ(aclrtRecordEvent(plain.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEventWithFlag(plain.get(), stream_, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtRecordEventWithFlag(external.get(), stream_, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(aclrtRecordEvent(external.get(), stream_), ACL_ERROR_RT_PARAM_INVALID);
}

using ResetEvent = StreamTest;

TEST_F(ResetEvent, EarlierCheckWins) {
  aclrtStream stale_stream = StaleStream();
  aclrtEvent stale_event = StaleEvent();
  ForeignContext foreign;
  TestEvent ex(EventKind::kEx), timed(EventKind::kClassic, ACL_EVENT_TIME_LINE), classic(EventKind::kClassic),
      device_only(EventKind::kClassic, ACL_EVENT_DEVICE_USE_ONLY);
  ExpectAll({
      {"null event, stale stream", ACL_ERROR_INVALID_PARAM, [&] { return aclrtResetEvent(nullptr, stale_stream); }},
      {"stale event", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtResetEvent(stale_event, stream_); }},
      {"stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtResetEvent(classic.get(), stale_stream); }},
      {"Ex event, no context", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       [&] { return WithoutContext([&] { return aclrtResetEvent(ex.get(), stream_); }); }},
      {"no wait task", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtResetEvent(timed.get(), stream_); }},
      {"device-only event", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtResetEvent(device_only.get(), stream_); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtResetEvent(classic.get(), stream_); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtResetEvent(classic.get(), foreign.stream()); }},
  });
}

TEST_F(ResetEvent, ClassicEventBlocksWaitersAgain) {
  TestEvent event(EventKind::kClassic);
  TestStream waiter;
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << "still set from the record";

  ASSERT_EQ(aclrtResetEvent(event.get(), waiter.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiter.get(), 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS);
}

TEST_F(ResetEvent, HappensWhenTheStreamReachesIt) {
  TestEvent event(EventKind::kClassic);
  TestStream waiter;
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  Hold hold(stream_);
  ASSERT_EQ(aclrtResetEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << "the reset has not run";
}

TEST_F(ResetEvent, HostViewOfTheRecordDoesNotChange) {
  for (EventKind kind : {EventKind::kClassic, EventKind::kDefault}) {
    TestEvent event(kind, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    uint64_t before = 1, after = 2;
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtEventGetTimestamp(event.get(), &before), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetEvent(event.get(), stream_), ACL_SUCCESS) << Name(kind);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtEventGetTimestamp(event.get(), &after), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(before, after) << Name(kind);
  }
}

TEST_F(ResetEvent, ExternalEventTakesIt) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  EXPECT_EQ(aclrtResetEvent(event.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

}  // namespace record_event_test
}  // namespace ropeway_test
