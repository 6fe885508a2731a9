// What happens to streams, events, memory and unfinished work when a device goes down.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace device_reset_test {

using DeviceReset = BareTest;

TEST_F(DeviceReset, StreamHandlesGoStale) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream created = nullptr;
  ASSERT_EQ(aclrtCreateStream(&created), ACL_SUCCESS);
  aclrtStream by_default = DefaultStream();
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);

  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(created), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyStream(created), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(by_default), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceReset, EventsAnswerAsCompletedAndStayDestroyable) {
  for (EventKind kind : {EventKind::kDefault, EventKind::kClassic, EventKind::kEx}) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    TestEvent event(kind);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << Name(kind);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS) << Name(kind);
    EXPECT_EQ(aclrtRecordEvent(event.get(), nullptr), ACL_ERROR_RT_CONTEXT_NULL) << Name(kind);
    EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event.get()), ACL_ERROR_RT_CONTEXT_NULL) << Name(kind);
  }
}

TEST_F(DeviceReset, NotifiesStayDestroyable) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceReset, DeviceMemoryIsTakenBackAndALateFreeIsAnError) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(DeviceReset, PinnedMemorySurvives) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  PinnedBuffer host(64);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  host.get()[0] = 42;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    DeviceBuffer block(64);
    EXPECT_EQ(aclrtMemcpyAsync(block.get(), 64, host.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(block.Read(1)[0], 42);
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// Under every way to bring the device down, copies that can run are finished first.
class DeviceResetWork : public BareTest, public ::testing::WithParamInterface<aclError (*)(int32_t)> {};

INSTANTIATE_TEST_SUITE_P(Both, DeviceResetWork, ::testing::Values(&aclrtResetDevice, &aclrtResetDeviceForce),
                         [](const auto& row) { return std::string(row.index == 0 ? "Reset" : "Force"); });

TEST_P(DeviceResetWork, UnfinishedCopiesAreFinished) {
  constexpr size_t kSize = 4096, kCopies = 64;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  PinnedBuffer host(kSize * kCopies);
  std::memset(host.get(), 0, host.size());
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto bytes = Pattern(kSize, 7);
  ASSERT_EQ(aclrtMemcpy(block, kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  for (size_t i = 0; i < kCopies; ++i) {
    ASSERT_EQ(aclrtMemcpyAsync(host.get() + i * kSize, kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  }
  ASSERT_EQ(GetParam()(0), ACL_SUCCESS);
  for (size_t i = 0; i < kCopies; ++i) {
    ASSERT_EQ(std::memcmp(host.get() + i * kSize, bytes.data(), kSize), 0) << "copy " << i;
  }
}

TEST_P(DeviceResetWork, WorkThatCanMakeNoProgressIsDropped) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  NeverRecorded forever;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(nullptr), ACL_SUCCESS);
  EXPECT_EQ(GetParam()(0), ACL_SUCCESS);
}

TEST_P(DeviceResetWork, RunningHostFunctionIsWaitedFor) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream), ACL_SUCCESS);
  gate.AwaitArrival();
  std::thread opener([&] { gate.Open(); });
  EXPECT_EQ(GetParam()(0), ACL_SUCCESS);
  opener.join();
}

TEST_F(DeviceReset, ExplicitContextHoldsTheDeviceOpen) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);

  aclrtContext current = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(aclrtMemsetAsync(block, 64, 5, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  uint8_t byte = 0;
  EXPECT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(byte, 5);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID) << "the device closed with its last context";
}

TEST_F(DeviceReset, FromInsideAHostFunctionIsRefused) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclError result = kNotCalled;
  auto reset = [](void* out) { *static_cast<aclError*>(out) = aclrtResetDeviceForce(0); };
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, reset, &result), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(result, ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace device_reset_test
}  // namespace ropeway_test
