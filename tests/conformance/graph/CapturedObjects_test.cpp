// Calls on streams, events and models that take part in a capture (rules/graphs.md 2, row by row). What is refused leaves
// the capture as it is.
#include <memory>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace captured_objects_test {

// A capture on stream_ that another stream has joined and that holds one piece of work; each test closes it with
// Finish().
class CapturedObjects : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    joined_ = NewStream();
    other_ = NewStream();
    work_ = std::make_unique<Work>();
    Begin(stream_);
    Link(stream_, work_->fork, joined_);
    ASSERT_EQ(work_->tally.Add(joined_), ACL_SUCCESS);
  }
  void TearDown() override {
    DiscardCaptures();
    work_.reset();
    CaptureTest::TearDown();
  }

  template <typename Call>
  void ExpectHarmless(const char* call_name, aclError code, Call call) {
    ExpectRefused(call_name, code, call);
    EXPECT_EQ(CaptureStatusOf(stream_), kCapturing) << call_name;
    EXPECT_EQ(CaptureStatusOf(joined_), kCapturing) << call_name;
  }

  // The capture has stayed valid and holds what it held.
  void Finish() {
    Link(joined_, work_->join, stream_);
    Model model = End(stream_);
    EXPECT_EQ(work_->tally.Get(), 0u);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(work_->tally.Get(), 1u);
  }

  struct Work {
    TestEvent fork{EventKind::kEx, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE}, join{EventKind::kEx};
    Tally tally;
  };
  std::unique_ptr<Work> work_;
  aclrtStream joined_ = nullptr;
  aclrtStream other_ = nullptr;
};

TEST_F(CapturedObjects, StreamCannotBeWaitedForAskedOrDestroyed) {
  constexpr aclError kCaptured = ACL_ERROR_RT_STREAM_CAPTURED;
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  for (aclrtStream stream : {stream_, joined_}) {
    SCOPED_TRACE(stream == stream_ ? "origin" : "joined");
    ExpectHarmless("aclrtSynchronizeStream", kCaptured, [&] { return aclrtSynchronizeStream(stream); });
    ExpectHarmless("aclrtSynchronizeStreamWithTimeout", kCaptured, [&] { return aclrtSynchronizeStreamWithTimeout(stream, 1000); });
    ExpectHarmless("aclrtStreamQuery", kCaptured, [&] { return aclrtStreamQuery(stream, &status); });
    ExpectHarmless("aclrtDestroyStream", kCaptured, [&] { return aclrtDestroyStream(stream); });
    ExpectHarmless("aclrtDestroyStreamForce", kCaptured, [&] { return aclrtDestroyStreamForce(stream); });
  }
  EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
  Finish();
}

TEST_F(CapturedObjects, ArgumentsAreLookedAtBeforeTheCaptureAndTheCaptureBeforeTheContext) {
  ExpectAll({
      {"timeout 0", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtSynchronizeStreamWithTimeout(stream_, 0); }},
      {"status NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclrtStreamQuery(stream_, nullptr); }},
      {"synchronise, no context", ACL_ERROR_RT_STREAM_CAPTURED,
       [&] { return WithoutContext([&] { return aclrtSynchronizeStream(stream_); }); }},
      {"destroy, no context", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return WithoutContext([&] { return aclrtDestroyStream(stream_); }); }},
  });
  Finish();
}

TEST_F(CapturedObjects, ModelsCannotBeExecutedOnTheStream) {
  Begin(other_);
  Model ready = End(other_);
  for (aclrtStream stream : {stream_, joined_}) {
    ExpectHarmless("aclmdlRIExecuteAsync", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclmdlRIExecuteAsync(ready.get(), stream); });
  }
  Finish();
}

TEST_F(CapturedObjects, DeviceCannotBeWaitedForAndNothingOfItIs) {
  Hold hold(other_);
  ExpectHarmless("aclrtSynchronizeDevice", ACL_ERROR_RT_STREAM_CAPTURED, [] { return aclrtSynchronizeDevice(); });
  ExpectHarmless("aclrtSynchronizeDeviceWithTimeout", ACL_ERROR_RT_STREAM_CAPTURED, [] { return aclrtSynchronizeDeviceWithTimeout(-1); });
  EXPECT_EQ(StatusOf(other_), ACL_STREAM_STATUS_NOT_READY);
  hold.Open();
  Finish();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(CapturedObjects, DeviceOfAnotherContextCanBeWaitedFor) {
  ForeignContext foreign;
  foreign.Run([] { EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS); });
  Finish();
}

TEST_F(CapturedObjects, EventCannotBeAskedWaitedForOrTimed) {
  constexpr aclError kCaptured = ACL_ERROR_RT_EVENT_CAPTURED;
  aclrtEvent event = work_->fork.get();
  TestEvent outside(EventKind::kEx, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
  ASSERT_EQ(aclrtRecordEvent(outside.get(), other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(outside.get()), ACL_SUCCESS);
  auto status = static_cast<aclrtEventRecordedStatus>(-1);
  float ms = -7;
  uint64_t us = 7;
  ExpectHarmless("aclrtQueryEventStatus", kCaptured, [&] { return aclrtQueryEventStatus(event, &status); });
  ExpectHarmless("aclrtSynchronizeEvent", kCaptured, [&] { return aclrtSynchronizeEvent(event); });
  ExpectHarmless("aclrtSynchronizeEventWithTimeout", kCaptured, [&] { return aclrtSynchronizeEventWithTimeout(event, 1000); });
  ExpectHarmless("aclrtEventElapsedTime", kCaptured, [&] { return aclrtEventElapsedTime(&ms, event, outside.get()); });
  ExpectHarmless("aclrtEventElapsedTime", kCaptured, [&] { return aclrtEventElapsedTime(&ms, outside.get(), event); });
  ExpectHarmless("aclrtEventGetTimestamp", kCaptured, [&] { return aclrtEventGetTimestamp(event, &us); });
  EXPECT_EQ(status, static_cast<aclrtEventRecordedStatus>(-1));
  EXPECT_EQ(ms, -7);
  EXPECT_EQ(us, 7u);
  Finish();
}

TEST_F(CapturedObjects, OverflowSwitchAndTagCannotBeSet) {
  aclrtStreamAttrValue value{};
  for (aclrtStream stream : {stream_, joined_}) {
    ExpectHarmless("aclrtSetStreamOverflowSwitch", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtSetStreamOverflowSwitch(stream, 1); });
    for (auto attr : {ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, ACL_STREAM_ATTR_USER_CUSTOM_TAG}) {
      ExpectHarmless("aclrtSetStreamAttribute", ACL_ERROR_RT_STREAM_CAPTURED,
                     [&] { return aclrtSetStreamAttribute(stream, attr, &value); });
    }
  }
  Finish();
}

TEST_F(CapturedObjects, PageableCopiesAreRefused) {
  DeviceBuffer device(64);
  std::vector<uint8_t> pageable(64, 3);
  size_t fail = 77;
  for (aclrtStream stream : {stream_, joined_}) {
    ExpectHarmless("aclrtMemcpyAsync", ACL_ERROR_RT_PARAM_INVALID, [&] { return Copy(device.get(), pageable.data(), 64, stream); });
    ExpectHarmless("aclrtMemcpyAsync", ACL_ERROR_RT_PARAM_INVALID, [&] { return Copy(pageable.data(), device.get(), 64, stream); });
    ExpectHarmless("aclrtMemcpy2dAsync", ACL_ERROR_RT_PARAM_INVALID,
                   [&] { return aclrtMemcpy2dAsync(pageable.data(), 8, device.get(), 8, 8, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream); });
    ExpectHarmless("aclrtMemcpyBatchAsync", ACL_ERROR_RT_PARAM_INVALID,
                   [&] { return Batch(Batch::kToHost).Add(pageable.data(), device.get(), 64).Submit(stream, &fail); });
    EXPECT_EQ(fail, SIZE_MAX);
  }
  EXPECT_EQ(pageable, std::vector<uint8_t>(64, 3));
  Finish();
}

TEST_F(CapturedObjects, HostMemoryIsSetAtOnceAndNotRecorded) {
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64, 1);
  std::memset(pinned.get(), 1, 64);
  EXPECT_EQ(aclrtMemsetAsync(pinned.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(pageable.data(), 64, 9, 64, joined_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(pinned.get(), 64), std::vector<uint8_t>(64, 9));
  EXPECT_EQ(pageable, std::vector<uint8_t>(64, 9));
  EXPECT_EQ(aclrtMemsetD32Async(pinned.get(), 64, 0x04040404, 16, stream_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(pinned.get(), 64), std::vector<uint8_t>(64, 4));
  std::memset(pinned.get(), 2, 64);
  pageable.assign(64, 2);
  Finish();
  EXPECT_EQ(BytesAt(pinned.get(), 64), std::vector<uint8_t>(64, 2));
  EXPECT_EQ(pageable, std::vector<uint8_t>(64, 2));
}

TEST_F(CapturedObjects, EventsOfTheOldKindsAreRefused) {
  constexpr aclError kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  TestEvent by_default(EventKind::kDefault), classic(EventKind::kClassic), ipc(EventKind::kEx, ACL_EVENT_IPC);
  TestEvent timed(EventKind::kClassic, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
  for (const TestEvent* event : {&by_default, &classic, &timed, &ipc}) {
    if (event != &ipc) {
      ASSERT_EQ(aclrtRecordEvent(event->get(), other_), ACL_SUCCESS) << "so that a wait would have something to wait for";
    }
    ExpectHarmless("aclrtRecordEvent", kRefused, [&] { return aclrtRecordEvent(event->get(), stream_); });
    ExpectHarmless("aclrtStreamWaitEvent", kRefused, [&] { return aclrtStreamWaitEvent(stream_, event->get()); });
    ExpectHarmless("aclrtStreamWaitEventWithTimeout", kRefused, [&] { return aclrtStreamWaitEventWithTimeout(joined_, event->get(), 0); });
  }
  ExpectHarmless("aclrtResetEvent", kRefused, [&] { return aclrtResetEvent(classic.get(), stream_); });
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(RecordedStatus(by_default.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << "as recorded outside";
  Finish();
}

TEST_F(CapturedObjects, RecordOfAnExEventWithoutSyncDoesNothing) {
  for (uint32_t flag : {ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS}) {
    TestEvent event(EventKind::kEx, flag);
    EXPECT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS) << flag;
    EXPECT_EQ(CaptureStatusOf(stream_), kCapturing) << flag;
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << "still never recorded";
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << flag;
  }
  TestEvent timed(EventKind::kEx, ACL_EVENT_TIME_LINE);
  uint64_t us = 0;
  EXPECT_EQ(aclrtRecordEvent(timed.get(), joined_), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventGetTimestamp(timed.get(), &us), ACL_ERROR_RT_INTERNAL_ERROR) << "still never recorded";
  Finish();
}

TEST_F(CapturedObjects, DefaultStreamCannotJoin) {
  for (aclrtStream stream : {aclrtStream{nullptr}, DefaultStream()}) {
    ExpectHarmless("aclrtStreamWaitEvent", ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                   [&] { return aclrtStreamWaitEvent(stream, work_->fork.get()); });
  }
  EXPECT_EQ(CaptureStatusOf(DefaultStream()), kIdle);
  Finish();
}

TEST_F(CapturedObjects, OtherWorkOfTheDefaultStreamRuns) {
  Tally tally;
  ASSERT_EQ(tally.Add(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
  Finish();
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(CapturedObjects, OpenModelIsNeitherExecutedNorDestroyed) {
  aclmdlRI open = OpenModelOf(stream_);
  ExpectHarmless("aclmdlRIExecuteAsync", ACL_ERROR_RT_MODEL_CAPTURED, [&] { return aclmdlRIExecuteAsync(open, other_); });
  ExpectHarmless("aclmdlRIExecuteAsync", ACL_ERROR_RT_MODEL_CAPTURED, [&] { return aclmdlRIExecuteAsync(open, nullptr); });
  ExpectHarmless("aclmdlRIDestroy", ACL_ERROR_RT_MODEL_CAPTURED, [&] { return aclmdlRIDestroy(open); });
  Finish();
}

}  // namespace captured_objects_test
}  // namespace ropeway_test::graph
