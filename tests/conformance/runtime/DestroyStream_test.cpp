// aclrtDestroyStream waits for the work, aclrtDestroyStreamForce throws it away; the checks are the same.
#include <memory>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace destroy_stream_test {

using Destroy = aclError (*)(aclrtStream);

class DestroyStreamChecks : public DeviceTest, public ::testing::WithParamInterface<Destroy> {};

INSTANTIATE_TEST_SUITE_P(Both, DestroyStreamChecks, ::testing::Values(&aclrtDestroyStream, &aclrtDestroyStreamForce),
                         [](const auto& row) { return std::string(row.index == 0 ? "Plain" : "Force"); });

TEST_P(DestroyStreamChecks, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  ForeignContext foreign;
  TestStream mine;
  ExpectAll({
      {"null, no context", ACL_ERROR_INVALID_PARAM, [&] { return WithoutContext([&] { return GetParam()(nullptr); }); }},
      {"stale, no context", ACL_ERROR_RT_INVALID_HANDLE, [&] { return WithoutContext([&] { return GetParam()(stale); }); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return GetParam()(mine.get()); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return GetParam()(foreign.stream()); }},
  });
}

TEST_P(DestroyStreamChecks, FailedDestroyLeavesTheStreamUsable) {
  ForeignContext foreign;
  int count = 0;
  ASSERT_EQ(GetParam()(foreign.stream()), ACL_ERROR_RT_STREAM_CONTEXT);
  foreign.Run([&] {
    EXPECT_EQ(aclrtLaunchHostFunc(foreign.stream(), &CountUp, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  });
  EXPECT_EQ(count, 1);
}

TEST_P(DestroyStreamChecks, SecondDestroyIsAStaleHandle) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(GetParam()(stream), ACL_SUCCESS);
  EXPECT_EQ(GetParam()(stream), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_P(DestroyStreamChecks, FromInsideAHostFunctionIsRefused) {
  struct Attempt {
    aclrtContext context;
    aclrtStream stream;
    Destroy destroy;
    aclError result;
  };
  TestStream stream;
  Attempt attempt{nullptr, stream.get(), GetParam(), kNotCalled};
  ASSERT_EQ(aclrtGetCurrentContext(&attempt.context), ACL_SUCCESS);
  auto destroy = [](void* data) {
    auto* call = static_cast<Attempt*>(data);
    EXPECT_EQ(aclrtSetCurrentContext(call->context), ACL_SUCCESS);
    call->result = call->destroy(call->stream);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream.get(), destroy, &attempt), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(attempt.result, ACL_ERROR_RT_INTERNAL_ERROR);
}

using DestroyStream = DeviceTest;

TEST_F(DestroyStream, FinishesTheQueuedWork) {
  constexpr size_t kSize = 1 << 16;
  DeviceBuffer block(kSize);
  PinnedBuffer host(kSize);
  auto bytes = Pattern(kSize, 5);
  std::memcpy(host.get(), bytes.data(), kSize);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(aclrtMemcpyAsync(block.get(), kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  }
  int count = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(block.Read(kSize), bytes);
}

TEST_F(DestroyStream, SwallowsTheErrorOfTheWork) {
  FailingCopy copy;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(copy.Submit(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(DestroyStream, RecordedEventsStayValid) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kClassic, EventKind::kEx}) {
    TestEvent event(kind, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    uint64_t timestamp = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(event.get(), &timestamp), ACL_SUCCESS) << Name(kind);
    TestStream other;
    EXPECT_EQ(aclrtStreamWaitEvent(other.get(), event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS) << Name(kind);
  }
}

TEST_F(DestroyStream, WaitsWhileOtherThreadsGoOn) {
  TestStream held_stream;
  Hold hold(held_stream.get());
  std::thread destroyer([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(held_stream.Release()), ACL_SUCCESS);
  });
  DeviceBuffer block(64);
  TestStream other;
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, other.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  hold.Open();
  destroyer.join();
}

TEST_F(DestroyStream, FailedStopModeStreamGoesAwayWithoutWaiting) {
  FailingCopy copy;
  NeverRecorded forever;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  Hold hold(stream);
  ASSERT_EQ(copy.Submit(stream), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream), ACL_SUCCESS);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

using DestroyStreamForce = DeviceTest;

TEST_F(DestroyStreamForce, DropsWhatHasNotRun) {
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  NeverRecorded forever;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
}

TEST_F(DestroyStreamForce, DroppedRecordsNeverHappened) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kEx}) {
    NeverRecorded forever;
    TestEvent event(kind, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(forever.Block(stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << Name(kind);
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()),
              kind == EventKind::kEx ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY)
        << Name(kind) << ": back to unrecorded";
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    uint64_t timestamp = 77;
    EXPECT_EQ(aclrtEventGetTimestamp(event.get(), &timestamp), ACL_ERROR_RT_INTERNAL_ERROR) << Name(kind);
    EXPECT_EQ(timestamp, 77u) << Name(kind);
  }
}

TEST_F(DestroyStreamForce, WaitsBoundToADroppedRecordStayBlocked) {
  NeverRecorded forever;
  TestEvent event(EventKind::kEx);
  TestStream waiter;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiter.get(), event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiter.get(), 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamAbort(waiter.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter.get()), ACL_SUCCESS);
}

TEST_F(DestroyStreamForce, RunningHostFunctionIsOverWhenItReturns) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  auto gate = std::make_unique<StreamGate>();
  int count = 0;
  ASSERT_EQ(gate->Close(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &CountUp, &count), ACL_SUCCESS);
  gate->AwaitArrival();
  std::thread opener([&] { gate->Open(); });
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  opener.join();
  gate.reset();
  EXPECT_LE(count, 1);
}

TEST_F(DestroyStreamForce, NothingTouchesMemoryAfterwards) {
  constexpr size_t kSize = 1 << 20;
  DeviceBuffer block(kSize);
  for (int round = 0; round < 20; ++round) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(aclrtMemsetAsync(block.get(), kSize, 1, kSize, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(block.get(), kSize, 2, kSize), ACL_SUCCESS);
    ASSERT_EQ(block.Read(kSize), std::vector<uint8_t>(kSize, 2)) << "round " << round;
  }
}

}  // namespace destroy_stream_test
}  // namespace ropeway_test
