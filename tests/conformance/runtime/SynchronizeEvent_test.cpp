// aclrtSynchronizeEvent and its form with a timeout.
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace synchronize_event_test {

constexpr EventKind kAllKinds[] = {EventKind::kDefault, EventKind::kClassic, EventKind::kEx};

using SynchronizeEvent = StreamTest;

TEST_F(SynchronizeEvent, EarlierCheckWins) {
  aclrtEvent stale = StaleEvent();
  TestEvent external(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  ExpectAll({
      {"timeout below -1, null event", ACL_ERROR_RT_PARAM_INVALID, [] { return aclrtSynchronizeEventWithTimeout(nullptr, -2); }},
      {"null event, timeout 0", ACL_ERROR_INVALID_PARAM, [] { return aclrtSynchronizeEventWithTimeout(nullptr, 0); }},
      {"null event", ACL_ERROR_INVALID_PARAM, [] { return aclrtSynchronizeEvent(nullptr); }},
      {"stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtSynchronizeEvent(stale); }},
      {"timed: stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtSynchronizeEventWithTimeout(stale, 1); }},
      {"external", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtSynchronizeEvent(external.get()); }},
      {"timed: external", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtSynchronizeEventWithTimeout(external.get(), 1); }},
  });
}

TEST_F(SynchronizeEvent, ZeroAndBelowMinusOneAreNoTimeouts) {
  TestEvent event(EventKind::kEx);
  for (int32_t timeout : {0, -2, INT_MIN}) {
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), timeout), ACL_ERROR_RT_PARAM_INVALID) << timeout;
  }
}

TEST_F(SynchronizeEvent, NeverRecordedReturnsAtOnce) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), 1), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(SynchronizeEvent, WaitsForTheWorkBeforeTheRecordOnly) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    int count = 0;
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    Hold behind(stream_);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(count, 1) << Name(kind);
    EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY) << Name(kind);
  }
}

TEST_F(SynchronizeEvent, ExceededTimeoutKeepsTheEventUsable) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT) << Name(kind);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), -1), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), INT_MAX), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(SynchronizeEvent, NeedsNoContext) {
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(WithoutContext([&] { return aclrtSynchronizeEvent(event.get()); }), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(WithoutContext([&] { return aclrtSynchronizeEventWithTimeout(event.get(), 1000); }), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(SynchronizeEvent, DoesNotDeliverTaskErrors) {
  FailingCopy copy;
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA) << Name(kind);
  }
}

TEST_F(SynchronizeEvent, CallBlockedOnAnOlderRecordReturnsWithIt) {
  ForeignContext foreign;
  TestEvent event(EventKind::kEx);
  StreamGate newer;
  Hold older(stream_);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  std::thread waiter([&] { EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS); });
  older.Open();
  waiter.join();
  foreign.Run([&] {
    ASSERT_EQ(newer.Close(foreign.stream()), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), foreign.stream()), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  newer.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
}

TEST_F(SynchronizeEvent, ManyThreadsWaitForOneEvent) {
  TestEvent event(EventKind::kEx);
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  PinnedBuffer host(64);
  Hold hold(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(host.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
      EXPECT_EQ(host.get()[63], 1);
    });
  }
  hold.Open();
  for (auto& thread : threads) thread.join();
}

}  // namespace synchronize_event_test
}  // namespace ropeway_test
