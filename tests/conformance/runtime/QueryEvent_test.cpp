// The three ways to ask an event, whose enums disagree about which number means complete.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace query_event_test {

constexpr EventKind kAllKinds[] = {EventKind::kDefault, EventKind::kClassic, EventKind::kEx};

aclrtEventStatus OldStatus(aclrtEvent event) {
  auto status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEvent(event, &status), ACL_SUCCESS);
  return status;
}

aclrtEventWaitStatus WaitStatus(aclrtEvent event) {
  auto status = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventWaitStatus(event, &status), ACL_SUCCESS);
  return status;
}

using QueryEvent = StreamTest;

TEST_F(QueryEvent, NumbersOfTheThreeEnums) {
  EXPECT_EQ(static_cast<int>(ACL_EVENT_RECORDED_STATUS_NOT_READY), 0);
  EXPECT_EQ(static_cast<int>(ACL_EVENT_RECORDED_STATUS_COMPLETE), 1);
  EXPECT_EQ(static_cast<int>(ACL_EVENT_STATUS_COMPLETE), 0);
  EXPECT_EQ(static_cast<int>(ACL_EVENT_STATUS_NOT_READY), 1);
  EXPECT_EQ(static_cast<int>(ACL_EVENT_WAIT_STATUS_COMPLETE), 0);
  EXPECT_EQ(static_cast<int>(ACL_EVENT_WAIT_STATUS_NOT_READY), 1);
}

TEST_F(QueryEvent, NullsComeBeforeStaleHandles) {
  aclrtEvent stale = StaleEvent();
  auto recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  auto old = ACL_EVENT_STATUS_RESERVED;
  auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
  ExpectAll({
      {"recorded: null event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtQueryEventStatus(nullptr, &recorded); }},
      {"recorded: null output", ACL_ERROR_INVALID_PARAM, [&] { return aclrtQueryEventStatus(stale, nullptr); }},
      {"recorded: stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtQueryEventStatus(stale, &recorded); }},
      {"old: null event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtQueryEvent(nullptr, &old); }},
      {"old: null output", ACL_ERROR_INVALID_PARAM, [&] { return aclrtQueryEvent(stale, nullptr); }},
      {"old: stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtQueryEvent(stale, &old); }},
      {"wait: null event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtQueryEventWaitStatus(nullptr, &waited); }},
      {"wait: null output", ACL_ERROR_INVALID_PARAM, [&] { return aclrtQueryEventWaitStatus(stale, nullptr); }},
      {"wait: stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtQueryEventWaitStatus(stale, &waited); }},
  });
  EXPECT_EQ(old, ACL_EVENT_STATUS_RESERVED);
  EXPECT_EQ(waited, ACL_EVENT_WAIT_STATUS_RESERVED);
}

TEST_F(QueryEvent, ExternalEventsCannotBeAsked) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  auto recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  auto old = ACL_EVENT_STATUS_RESERVED;
  auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventStatus(event.get(), &recorded), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtQueryEvent(event.get(), &old), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtQueryEventWaitStatus(event.get(), &waited), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(QueryEvent, ExEventsKnowOnlyTheNewCall) {
  TestEvent event(EventKind::kEx);
  auto old = ACL_EVENT_STATUS_RESERVED;
  auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEvent(event.get(), &old), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtQueryEventWaitStatus(event.get(), &waited), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(old, ACL_EVENT_STATUS_RESERVED);
  EXPECT_EQ(waited, ACL_EVENT_WAIT_STATUS_RESERVED);
}

TEST_F(QueryEvent, NeverRecorded) {
  TestEvent by_default(EventKind::kDefault), classic(EventKind::kClassic), ex(EventKind::kEx);
  EXPECT_EQ(RecordedStatus(by_default.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(RecordedStatus(classic.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(RecordedStatus(ex.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(OldStatus(by_default.get()), ACL_EVENT_STATUS_COMPLETE);
  EXPECT_EQ(OldStatus(classic.get()), ACL_EVENT_STATUS_COMPLETE);
  EXPECT_EQ(WaitStatus(by_default.get()), ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_EQ(WaitStatus(classic.get()), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(QueryEvent, FromInFlightToComplete) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
    if (kind != EventKind::kEx) {
      EXPECT_EQ(OldStatus(event.get()), ACL_EVENT_STATUS_NOT_READY) << Name(kind);
    }
    hold.Open();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind) << ": and stays so";
    if (kind != EventKind::kEx) {
      EXPECT_EQ(OldStatus(event.get()), ACL_EVENT_STATUS_COMPLETE) << Name(kind);
    }
  }
}

TEST_F(QueryEvent, OutstandingWaitsAreSeenAndEnd) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kClassic}) {
    TestEvent event(kind);
    TestStream waiter;
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
    EXPECT_EQ(WaitStatus(event.get()), ACL_EVENT_WAIT_STATUS_NOT_READY) << Name(kind);
    hold.Open();
    ASSERT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS);
    EXPECT_EQ(WaitStatus(event.get()), ACL_EVENT_WAIT_STATUS_COMPLETE) << Name(kind);
  }
}

TEST_F(QueryEvent, NeedsNoContextAndWorksAcrossDevices) {
  ForeignContext other(1);
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    auto expect_not_ready = [&] {
      EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
      if (kind != EventKind::kEx) {
        EXPECT_EQ(OldStatus(event.get()), ACL_EVENT_STATUS_NOT_READY) << Name(kind);
        EXPECT_EQ(WaitStatus(event.get()), ACL_EVENT_WAIT_STATUS_COMPLETE) << Name(kind);
      }
    };
    OnFreshThread(expect_not_ready);
    other.Run(expect_not_ready);
  }
}

TEST_F(QueryEvent, CompleteTimeLineEventCanBeReadAtOnce) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind, ACL_EVENT_TIME_LINE);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    while (RecordedStatus(event.get()) != ACL_EVENT_RECORDED_STATUS_COMPLETE) std::this_thread::yield();
    uint64_t timestamp = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(event.get(), &timestamp), ACL_SUCCESS) << Name(kind);
  }
}

}  // namespace query_event_test
}  // namespace ropeway_test
