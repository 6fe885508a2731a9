// Creating and destroying the three kinds of event: which flags each takes, and how many there are.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace create_event_test {

void* const kUntouched = reinterpret_cast<void*>(0x77);

using CreateEvent = DeviceTest;

TEST_F(CreateEvent, EarlierCheckWins) {
  aclrtEvent event = kUntouched;
  ExpectAll({
      {"default: null, no context", ACL_ERROR_INVALID_PARAM, [] { return WithoutContext([] { return aclrtCreateEvent(nullptr); }); }},
      {"classic: null, bad flag, no context", ACL_ERROR_INVALID_PARAM,
       [] { return WithoutContext([] { return aclrtCreateEventWithFlag(nullptr, 0); }); }},
      {"Ex: null, bad flag, no context", ACL_ERROR_INVALID_PARAM,
       [] { return WithoutContext([] { return aclrtCreateEventExWithFlag(nullptr, 0); }); }},
      {"classic: bad flag, no context", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return WithoutContext([&] { return aclrtCreateEventWithFlag(&event, 0); }); }},
      {"Ex: bad flag, no context", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return WithoutContext([&] { return aclrtCreateEventExWithFlag(&event, 0); }); }},
      {"default: no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtCreateEvent(&event); }); }},
      {"classic: no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC); }); }},
      {"Ex: no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC); }); }},
  });
  EXPECT_EQ(event, kUntouched);
}

TEST_F(CreateEvent, ClassicFlags) {
  const std::pair<uint32_t, aclError> flags[] = {
      {0, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_SYNC, ACL_SUCCESS},
      {ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_SUCCESS},
      {ACL_EVENT_TIME_LINE, ACL_SUCCESS},
      {ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, ACL_SUCCESS},
      {ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_SUCCESS},
      {ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE, ACL_SUCCESS},
      {0x0F, ACL_SUCCESS},
      {ACL_EVENT_DEVICE_USE_ONLY, ACL_SUCCESS},
      {ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_EXTERNAL, ACL_SUCCESS},
      {ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_EXTERNAL | ACL_EVENT_TIME_LINE, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_EXTERNAL | ACL_EVENT_DEVICE_USE_ONLY, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_IPC, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_IPC | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {0x80, ACL_ERROR_RT_PARAM_INVALID},
      {0x80000000u | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {0xFFFFFFFFu, ACL_ERROR_RT_PARAM_INVALID},
  };
  for (auto [flag, expected] : flags) {
    aclrtEvent event = kUntouched;
    EXPECT_EQ(aclrtCreateEventWithFlag(&event, flag), expected) << flag;
    if (event == kUntouched) {
      EXPECT_NE(expected, ACL_SUCCESS) << flag;
    } else {
      EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS) << flag;
    }
  }
}

TEST_F(CreateEvent, ExFlags) {
  const std::pair<uint32_t, aclError> flags[] = {
      {0, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_SYNC, ACL_SUCCESS},
      {ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_SUCCESS},
      {ACL_EVENT_TIME_LINE, ACL_SUCCESS},
      {ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, ACL_SUCCESS},
      {0x0F, ACL_SUCCESS},
      {ACL_EVENT_DEVICE_USE_ONLY, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_EXTERNAL, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_IPC | ACL_EVENT_SYNC, ACL_ERROR_RT_PARAM_INVALID},
      {ACL_EVENT_IPC | ACL_EVENT_EXTERNAL, ACL_ERROR_RT_PARAM_INVALID},
      {0xFFFFFFFFu, ACL_ERROR_RT_PARAM_INVALID},
  };
  for (auto [flag, expected] : flags) {
    aclrtEvent event = kUntouched;
    EXPECT_EQ(aclrtCreateEventExWithFlag(&event, flag), expected) << flag;
    if (event == kUntouched) {
      EXPECT_NE(expected, ACL_SUCCESS) << flag;
    } else {
      EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS) << flag;
    }
  }
}

using EventAvailNum = DeviceTest;

TEST_F(EventAvailNum, NullThenNoContext) {
  uint32_t count = 77;
  EXPECT_EQ(WithoutContext([] { return aclrtGetEventAvailNum(nullptr); }), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([&] { return aclrtGetEventAvailNum(&count); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(count, 77u);
}

TEST_F(EventAvailNum, ClassicEventsTakeAnIdWhenMadeOthersWhenRecorded) {
  auto available = [] {
    uint32_t count = 0;
    EXPECT_EQ(aclrtGetEventAvailNum(&count), ACL_SUCCESS);
    return count;
  };
  uint32_t before = available();
  {
    TestEvent by_default(EventKind::kDefault), ex(EventKind::kEx);
    EXPECT_EQ(available(), before);
    TestEvent classic(EventKind::kClassic);
    EXPECT_EQ(available(), before - 1);
  }
  EXPECT_EQ(available(), before);
}

TEST_F(EventAvailNum, ClassicEventsRunOut) {
  uint32_t available = 0;
  ASSERT_EQ(aclrtGetEventAvailNum(&available), ACL_SUCCESS);
  EXPECT_LE(available, 65536u);
  std::vector<aclrtEvent> events(available, nullptr);
  for (auto& event : events) ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  aclrtEvent extra = kUntouched;
  EXPECT_EQ(aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC), ACL_ERROR_RT_NO_EVENT_RESOURCE);
  EXPECT_EQ(extra, kUntouched);
  for (auto event : events) ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateEventWithFlag(&extra, ACL_EVENT_SYNC), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(extra), ACL_SUCCESS);
}

using DestroyEvent = StreamTest;

TEST_F(DestroyEvent, NullAndStaleAreRejected) {
  EXPECT_EQ(aclrtDestroyEvent(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyEvent(StaleEvent()), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(DestroyEvent, NeedsNoContext) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kClassic, EventKind::kEx}) {
    TestEvent event(kind);
    EXPECT_EQ(WithoutContext([handle = event.Release()] { return aclrtDestroyEvent(handle); }), ACL_SUCCESS);
  }
}

TEST_F(DestroyEvent, UnfinishedRecordNeitherBlocksItNorIsLost) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kClassic, EventKind::kEx}) {
    TestStream waiter;
    DeviceBuffer block(64);
    block.Write(std::vector<uint8_t>(64, 1));
    TestEvent event(kind);
    Hold hold(stream_);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, waiter.get()), ACL_SUCCESS);
    aclrtEvent handle = event.Release();
    EXPECT_EQ(aclrtDestroyEvent(handle), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEvent(handle), ACL_ERROR_RT_INVALID_HANDLE) << Name(kind);
    EXPECT_EQ(StatusOf(waiter.get()), ACL_STREAM_STATUS_NOT_READY) << Name(kind) << ": the wait is still queued";
    EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1)) << Name(kind);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 9)) << Name(kind);
  }
}

TEST_F(DestroyEvent, ClassicEventThatWasNeverRecordedLeavesItsWaiterBlocked) {
  TestEvent event(EventKind::kClassic);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(event.Release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

}  // namespace create_event_test
}  // namespace ropeway_test
