// aclrtDeviceTaskAbort: everything queued on the device is thrown away, a failed context is healthy again.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace device_task_abort_test {

constexpr uint32_t kLongestMs = 36 * 60 * 1000;

using DeviceTaskAbort = StreamTest;

TEST_F(DeviceTaskAbort, TimeoutThenIdIsChecked) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceTaskAbort(-1, kLongestMs + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, kLongestMs + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDeviceTaskAbort(-1, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceTaskAbort(static_cast<int32_t>(count), 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, kLongestMs), ACL_SUCCESS);
}

TEST_F(DeviceTaskAbort, IdleDeviceIsFine) {
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(DeviceTaskAbort, ThrowsQueuedWorkOfEveryStreamAndContextAway) {
  ForeignContext foreign;
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  NeverRecorded forever;
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  foreign.Run([&] {
    ASSERT_EQ(forever.Block(foreign.stream()), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, foreign.stream()), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
}

TEST_F(DeviceTaskAbort, StreamsAreUsableAfterwards) {
  DeviceBuffer block(64);
  NeverRecorded forever;
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 9));
}

TEST_F(DeviceTaskAbort, OtherDevicesGoOn) {
  ForeignContext other(1);
  StreamGate gate;
  int count = 0;
  other.Run([&] {
    ASSERT_EQ(gate.Close(other.stream()), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(other.stream(), &CountUp, &count), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other.stream()), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(DeviceTaskAbort, ClearsTheFailureOfStopMode) {
  FailingCopy copy;
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(DeviceTaskAbort, CallbackIsRegisteredByName) {
  auto on_abort = [](int32_t, aclrtDeviceTaskAbortStage stage, uint32_t, void* stages) -> int32_t {
    static_cast<std::vector<aclrtDeviceTaskAbortStage>*>(stages)->push_back(stage);
    return 0;
  };
  std::vector<aclrtDeviceTaskAbortStage> stages;
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback(nullptr, on_abort, &stages), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtSetDeviceTaskAbortCallback("watch", on_abort, &stages), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(stages, (std::vector<aclrtDeviceTaskAbortStage>{ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST}));
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(stages.size(), 2u) << "removed";
}

}  // namespace device_task_abort_test
}  // namespace ropeway_test
