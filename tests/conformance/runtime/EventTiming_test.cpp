// aclrtEventElapsedTime, aclrtEventGetTimestamp and aclrtGetEventId.
#include <limits>
#include <set>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace event_timing_test {

constexpr EventKind kAllKinds[] = {EventKind::kDefault, EventKind::kClassic, EventKind::kEx};

using EventElapsedTime = StreamTest;

TEST_F(EventElapsedTime, EarlierCheckWins) {
  aclrtEvent stale = StaleEvent();
  TestEvent event(EventKind::kDefault), external(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  float ms = 77;
  ExpectAll({
      {"null output, stale events", ACL_ERROR_INVALID_PARAM, [&] { return aclrtEventElapsedTime(nullptr, stale, stale); }},
      {"null start, stale end", ACL_ERROR_INVALID_PARAM, [&] { return aclrtEventElapsedTime(&ms, nullptr, stale); }},
      {"stale start, null end", ACL_ERROR_INVALID_PARAM, [&] { return aclrtEventElapsedTime(&ms, stale, nullptr); }},
      {"stale start", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtEventElapsedTime(&ms, stale, event.get()); }},
      {"stale end", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtEventElapsedTime(&ms, event.get(), stale); }},
      {"external", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtEventElapsedTime(&ms, event.get(), external.get()); }},
  });
  EXPECT_EQ(ms, 77);
}

TEST_F(EventElapsedTime, NeverRecordedIncompleteAndUntimed) {
  TestEvent done(EventKind::kDefault), fresh(EventKind::kEx, ACL_EVENT_TIME_LINE), untimed(EventKind::kEx),
      in_flight(EventKind::kEx, ACL_EVENT_TIME_LINE);
  ASSERT_EQ(aclrtRecordEvent(done.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(untimed.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  Hold hold(stream_);
  ASSERT_EQ(aclrtRecordEvent(in_flight.get(), stream_), ACL_SUCCESS);
  float ms = 77;
  ExpectAll({
      {"start never recorded", ACL_ERROR_RT_INTERNAL_ERROR, [&] { return aclrtEventElapsedTime(&ms, fresh.get(), done.get()); }},
      {"end never recorded", ACL_ERROR_RT_INTERNAL_ERROR, [&] { return aclrtEventElapsedTime(&ms, done.get(), fresh.get()); }},
      {"start in flight", ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, [&] { return aclrtEventElapsedTime(&ms, in_flight.get(), done.get()); }},
      {"end in flight", ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, [&] { return aclrtEventElapsedTime(&ms, done.get(), in_flight.get()); }},
      {"start untimed", ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, [&] { return aclrtEventElapsedTime(&ms, untimed.get(), done.get()); }},
      {"end untimed", ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, [&] { return aclrtEventElapsedTime(&ms, done.get(), untimed.get()); }},
  });
  EXPECT_EQ(ms, 77);
}

TEST_F(EventElapsedTime, IsPositiveForwardsAndNegativeBackwards) {
  DeviceBuffer block(1 << 20);
  for (EventKind kind : kAllKinds) {
    TestEvent start(kind, ACL_EVENT_TIME_LINE), end(kind, ACL_EVENT_TIME_LINE);
    ASSERT_EQ(aclrtRecordEvent(start.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block.get(), 1 << 20, 1, 1 << 20, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(end.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(end.get()), ACL_SUCCESS);
    float forwards = -77, backwards = 77;
    EXPECT_EQ(aclrtEventElapsedTime(&forwards, start.get(), end.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtEventElapsedTime(&backwards, end.get(), start.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_GT(forwards, 0.0f) << Name(kind);
    EXPECT_EQ(backwards, -forwards) << Name(kind);
    float none = 77;
    EXPECT_EQ(aclrtEventElapsedTime(&none, end.get(), end.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(none, 0.0f) << Name(kind);
  }
}

TEST_F(EventElapsedTime, AcrossStreamsContextsAndWithoutAContext) {
  ForeignContext foreign;
  TestEvent start(EventKind::kDefault), end(EventKind::kEx, ACL_EVENT_TIME_LINE);
  ASSERT_EQ(aclrtRecordEvent(start.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(start.get()), ACL_SUCCESS);
  foreign.Run([&] { ASSERT_EQ(aclrtRecordEvent(end.get(), foreign.stream()), ACL_SUCCESS); });
  ASSERT_EQ(aclrtSynchronizeEvent(end.get()), ACL_SUCCESS);
  float ms = -77;
  EXPECT_EQ(WithoutContext([&] { return aclrtEventElapsedTime(&ms, start.get(), end.get()); }), ACL_SUCCESS);
  EXPECT_GE(ms, 0.0f);
}

using EventTimestamp = StreamTest;

TEST_F(EventTimestamp, EarlierCheckWins) {
  aclrtEvent stale = StaleEvent();
  TestEvent fresh(EventKind::kDefault), untimed(EventKind::kClassic), external(EventKind::kClassic, ACL_EVENT_EXTERNAL),
      in_flight(EventKind::kDefault);
  ASSERT_EQ(aclrtRecordEvent(untimed.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  Hold hold(stream_);
  ASSERT_EQ(aclrtRecordEvent(in_flight.get(), stream_), ACL_SUCCESS);
  uint64_t us = 77;
  ExpectAll({
      {"null event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtEventGetTimestamp(nullptr, &us); }},
      {"null output, stale event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtEventGetTimestamp(stale, nullptr); }},
      {"stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtEventGetTimestamp(stale, &us); }},
      {"external", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtEventGetTimestamp(external.get(), &us); }},
      {"never recorded", ACL_ERROR_RT_INTERNAL_ERROR, [&] { return aclrtEventGetTimestamp(fresh.get(), &us); }},
      {"in flight", ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, [&] { return aclrtEventGetTimestamp(in_flight.get(), &us); }},
      {"untimed", ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, [&] { return aclrtEventGetTimestamp(untimed.get(), &us); }},
  });
  EXPECT_EQ(us, 77u);
}

TEST_F(EventTimestamp, GrowsAlongTheStreamAndAgreesWithElapsedTime) {
  DeviceBuffer block(1 << 20);
  TestEvent start(EventKind::kDefault), end(EventKind::kDefault);
  ASSERT_EQ(aclrtRecordEvent(start.get(), stream_), ACL_SUCCESS);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(aclrtMemsetAsync(block.get(), 1 << 20, i, 1 << 20, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(end.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  uint64_t first = 0, last = 0;
  float ms = 0;
  ASSERT_EQ(aclrtEventGetTimestamp(start.get(), &first), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventGetTimestamp(end.get(), &last), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, start.get(), end.get()), ACL_SUCCESS);
  EXPECT_GE(last, first);
  EXPECT_NEAR(static_cast<double>(last - first), ms * 1000.0, 2.0) << "microseconds and milliseconds";
}

TEST_F(EventTimestamp, IsThatOfTheNewestRecord) {
  TestEvent event(EventKind::kEx, ACL_EVENT_TIME_LINE), later(EventKind::kEx, ACL_EVENT_TIME_LINE);
  float before = 0, after = 0;
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(later.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&before, event.get(), later.get()), ACL_SUCCESS);
  EXPECT_GE(before, 0.0f);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&after, event.get(), later.get()), ACL_SUCCESS);
  EXPECT_LE(after, 0.0f);
}

using EventId = StreamTest;

TEST_F(EventId, NullsThenStale) {
  aclrtEvent stale = StaleEvent();
  uint32_t id = 77;
  EXPECT_EQ(aclrtGetEventId(nullptr, &id), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetEventId(stale, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetEventId(stale, &id), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(id, 77u);
}

TEST_F(EventId, EventWithoutHardwareIdHasNone) {
  TestEvent by_default(EventKind::kDefault), ex(EventKind::kEx), no_wait_task(EventKind::kClassic, ACL_EVENT_TIME_LINE);
  uint32_t id = 77;
  EXPECT_EQ(aclrtGetEventId(by_default.get(), &id), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtGetEventId(ex.get(), &id), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtGetEventId(no_wait_task.get(), &id), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(id, 77u);
}

TEST_F(EventId, RecordInFlightHasOne) {
  Hold hold(stream_);
  for (EventKind kind : kAllKinds) {
    TestEvent event(kind);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    uint32_t id = std::numeric_limits<uint32_t>::max();
    EXPECT_EQ(aclrtGetEventId(event.get(), &id), ACL_SUCCESS) << Name(kind);
    EXPECT_LT(id, 65536u) << Name(kind);
  }
}

TEST_F(EventId, ClassicEventsHaveDistinctIdsFromTheStart) {
  std::set<uint32_t> ids;
  TestEvent events[] = {TestEvent(EventKind::kClassic), TestEvent(EventKind::kClassic), TestEvent(EventKind::kClassic)};
  for (auto& event : events) {
    uint32_t id = std::numeric_limits<uint32_t>::max();
    EXPECT_EQ(aclrtGetEventId(event.get(), &id), ACL_SUCCESS);
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
}

}  // namespace event_timing_test
}  // namespace ropeway_test
