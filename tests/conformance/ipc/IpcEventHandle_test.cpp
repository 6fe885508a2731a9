// aclrtIpcGetEventHandle and aclrtIpcOpenEventHandle, and what can be done with an opened event.
#include <cstring>
#include <memory>

#include "tests/conformance/ipc/ipc_test_util.h"

namespace ropeway_test {
namespace ipc_event_handle_test {

class IpcEventHandle : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    event_ = std::make_unique<TestEvent>(EventKind::kEx, ACL_EVENT_IPC);
    ASSERT_EQ(aclrtIpcGetEventHandle(event_->get(), &handle_), ACL_SUCCESS);
    ASSERT_EQ(aclrtIpcOpenEventHandle(handle_, &opened_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(opened_), ACL_SUCCESS);
    event_.reset();
    StreamTest::TearDown();
  }
  // Both handles, from each to each.
  template <typename Body>
  void ForEachPair(Body body) {
    for (aclrtEvent from : {event_->get(), opened_}) {
      for (aclrtEvent to : {event_->get(), opened_}) body(from, to);
    }
  }
  std::unique_ptr<TestEvent> event_;
  aclrtIpcEventHandle handle_ = {};
  aclrtEvent opened_ = nullptr;
};

TEST_F(IpcEventHandle, GetChecksInOrder) {
  aclrtIpcEventHandle handle = {};
  aclrtEvent stale = StaleEvent();
  TestEvent plain(EventKind::kEx, ACL_EVENT_SYNC);
  ExpectAll({
      {"null event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtIpcGetEventHandle(nullptr, nullptr); }},
      {"null handle, stale", ACL_ERROR_INVALID_PARAM, [&] { return aclrtIpcGetEventHandle(stale, nullptr); }},
      {"stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtIpcGetEventHandle(stale, &handle); }},
      {"not an IPC event", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtIpcGetEventHandle(plain.get(), &handle); }},
      {"opened elsewhere", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtIpcGetEventHandle(opened_, &handle); }},
  });
  const aclrtIpcEventHandle zero = {};
  EXPECT_EQ(std::memcmp(&handle, &zero, sizeof(handle)), 0);
}

TEST_F(IpcEventHandle, EveryGetGivesTheSameHandle) {
  aclrtIpcEventHandle again = {};
  ASSERT_EQ(aclrtIpcGetEventHandle(event_->get(), &again), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(&again, &handle_, sizeof(again)), 0);
}

TEST_F(IpcEventHandle, OpenChecksInOrder) {
  aclrtEvent opened = nullptr;
  aclrtIpcEventHandle zero = {}, forged = handle_;
  forged.reserved[63] = forged.reserved[63] == '0' ? '1' : '0';
  ExpectAll({
      {"null output", ACL_ERROR_INVALID_PARAM, [&] { return WithoutContext([&] { return aclrtIpcOpenEventHandle(zero, nullptr); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return aclrtIpcOpenEventHandle(zero, &opened); }); }},
      {"zeros", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtIpcOpenEventHandle(zero, &opened); }},
      {"forged", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtIpcOpenEventHandle(forged, &opened); }},
  });
  SharedNotify notify;
  aclrtIpcEventHandle foreign = {};
  std::memcpy(foreign.reserved, notify.Export().data(), sizeof(foreign.reserved));
  EXPECT_EQ(aclrtIpcOpenEventHandle(foreign, &opened), ACL_ERROR_RT_PARAM_INVALID) << "the key of a notify";
  event_.reset();
  EXPECT_EQ(aclrtIpcOpenEventHandle(handle_, &opened), ACL_ERROR_RT_PARAM_INVALID) << "the event is gone";
  EXPECT_EQ(opened, nullptr);
}

TEST_F(IpcEventHandle, WithoutARecordNothingWaits) {
  for (aclrtEvent event : {event_->get(), opened_}) {
    EXPECT_EQ(aclrtStreamWaitEvent(stream_, event), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  }
}

TEST_F(IpcEventHandle, EitherSideRecordsAndEitherSideWaits) {
  ForEachPair([&](aclrtEvent from, aclrtEvent to) {
    TestStream recorder;
    SharedNotify blocker;
    ASSERT_EQ(blocker.Wait(recorder.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(from, recorder.get()), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(to), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    int count = 0;
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, to), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(to, 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    TestStream opener;
    ASSERT_EQ(aclrtRecordNotify(blocker.get(), opener.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(opener.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(to), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(from), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_EQ(RecordedStatus(to), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(count, 1);
  });
}

TEST_F(IpcEventHandle, ARecordIsDoneForEverybodyWhenItsStreamIsSynchronised) {
  TestStream recorder;
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(aclrtRecordEvent(opened_, recorder.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(recorder.get()), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event_->get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  }
}

TEST_F(IpcEventHandle, OnlyTheLatestRecordCounts) {
  TestStream first, second;
  SharedNotify blocker;
  ASSERT_EQ(blocker.Wait(first.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(opened_, first.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event_->get(), second.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event_->get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(opened_), ACL_SUCCESS);
  EXPECT_EQ(RecordedStatus(opened_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  blocker.Record(second.get());
  EXPECT_EQ(aclrtSynchronizeStream(first.get()), ACL_SUCCESS);
}

TEST_F(IpcEventHandle, ADroppedRecordEndsTheWaitsForIt) {
  ForEachPair([&](aclrtEvent from, aclrtEvent to) {
    TestStream aborted;
    NeverRecorded never;
    ASSERT_EQ(never.Block(aborted.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(from, aborted.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, to), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamAbort(aborted.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_IPC_ERROR);
    EXPECT_EQ(aclrtSynchronizeEvent(from), ACL_SUCCESS) << "forgotten, as a dropped record of any event";
  });
}

TEST_F(IpcEventHandle, AWaitThatIsAbortedIsForgotten) {
  TestStream recorder, aborted;
  SharedNotify blocker;
  ASSERT_EQ(blocker.Wait(recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event_->get(), recorder.get()), ACL_SUCCESS);
  for (aclrtEvent event : {event_->get(), opened_}) {
    ASSERT_EQ(aclrtStreamWaitEvent(aborted.get(), event), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamAbort(aborted.get()), ACL_SUCCESS);
  }
  blocker.Record(stream_);
  EXPECT_EQ(aclrtSynchronizeStream(recorder.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(opened_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(aborted.get()), ACL_SUCCESS);
}

TEST_F(IpcEventHandle, TheEventOutlivesItsCreatorsHandle) {
  TestStream recorder;
  event_.reset();
  ASSERT_EQ(aclrtRecordEvent(opened_, recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, opened_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(recorder.get()), ACL_SUCCESS);
}

TEST_F(IpcEventHandle, WhatIpcEventsCannotDo) {
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  aclrtEventWaitStatus wait_status = ACL_EVENT_WAIT_STATUS_RESERVED;
  float ms = 0;
  uint64_t time = 0;
  uint32_t id = 0;
  for (aclrtEvent event : {event_->get(), opened_}) {
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    for (const Case& refused : std::vector<Case>{
             {"reset", 0, [&] { return aclrtResetEvent(event, stream_); }},
             {"query", 0, [&] { return aclrtQueryEvent(event, &status); }},
             {"wait status", 0, [&] { return aclrtQueryEventWaitStatus(event, &wait_status); }},
             {"elapsed", 0, [&] { return aclrtEventElapsedTime(&ms, event, event); }},
             {"timestamp", 0, [&] { return aclrtEventGetTimestamp(event, &time); }},
             {"id", 0, [&] { return aclrtGetEventId(event, &id); }},
         })
      EXPECT_EQ(refused.call(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << refused.what;
  }
}

}  // namespace ipc_event_handle_test
}  // namespace ropeway_test
