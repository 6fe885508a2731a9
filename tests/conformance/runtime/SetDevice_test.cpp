// aclrtSetDevice, aclrtResetDevice, aclrtResetDeviceForce, aclrtGetDevice: the count per process and device, and what
// the calling thread and the other threads are bound to.
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace set_device_test {

int32_t DeviceCount() {
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  return static_cast<int32_t>(count);
}

bool IsActive(int32_t device) {
  int32_t active = -1;
  EXPECT_EQ(aclrtGetPrimaryCtxState(device, nullptr, &active), ACL_SUCCESS);
  return active == 1;
}

int32_t CurrentDevice() {
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  return device;
}

void ExpectNoDevice() {
  int32_t device = 77;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(device, 77);
}

aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  return context;
}

std::vector<int32_t> BadIds() { return {-1, DeviceCount(), INT_MAX, INT_MIN}; }

using SetDevice = BareTest;

TEST_F(SetDevice, IdOutsideTheRangeIsRejected) {
  for (int32_t id : BadIds()) EXPECT_EQ(aclrtSetDevice(id), ACL_ERROR_RT_INVALID_DEVICEID) << id;
  ExpectNoDevice();
}

TEST_F(SetDevice, EveryCountedDeviceCanBeSet) {
  for (int32_t id = 0; id < DeviceCount(); ++id) {
    EXPECT_EQ(aclrtSetDevice(id), ACL_SUCCESS);
    EXPECT_EQ(CurrentDevice(), id);
  }
  for (int32_t id = 0; id < DeviceCount(); ++id) EXPECT_EQ(aclrtResetDevice(id), ACL_SUCCESS);
}

TEST_F(SetDevice, FailedCallLeavesBindingAndCount) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext before = CurrentContext();
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(CurrentContext(), before);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(SetDevice, EveryCallAddsOneWhicheverThreadMakesIt) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  OnFreshThread([] { EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  for (int left = 3; left > 0; --left) {
    EXPECT_TRUE(IsActive(0)) << left;
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS) << left;
  }
  EXPECT_FALSE(IsActive(0));
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(SetDevice, ThreadsOfOneDeviceShareTheDefaultContext) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext mine = CurrentContext();
  OnFreshThread([&] {
    ExpectNoDevice();
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(CurrentContext(), mine);
  });
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

TEST_F(SetDevice, ReplacesAnExplicitContext) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext primary = CurrentContext();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(CurrentContext(), context);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(CurrentContext(), primary);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(CurrentContext(), primary);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

TEST_F(SetDevice, DefaultContextKeepsItsHandleAcrossReset) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext first = CurrentContext();
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(CurrentContext(), first);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(SetDevice, ManyThreadsSettingAndResettingKeepTheCount) {
  constexpr int kThreads = 16, kRounds = 50;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);  // held, so that the device never goes down meanwhile
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(CurrentDevice(), 0);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(SetDevice, ManyThreadsBringingOneDeviceUpAndDownEndAtZero) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 10; ++round) {
        EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(IsActive(1));
}

using ResetDevice = BareTest;

TEST_F(ResetDevice, IdOutsideTheRangeIsRejected) {
  for (int32_t id : BadIds()) EXPECT_EQ(aclrtResetDevice(id), ACL_ERROR_RT_INVALID_DEVICEID) << id;
}

TEST_F(ResetDevice, NeverSetIsAReleaseError) { EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR); }

TEST_F(ResetDevice, AboveZeroChangesNothing) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext before = CurrentContext();
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(CurrentContext(), before);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ResetDevice, AtZeroTheCallingThreadIsDetached) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ExpectNoDevice();
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(stream, nullptr);
}

TEST_F(ResetDevice, AnotherDeviceKeepsTheThreadsBinding) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_FALSE(IsActive(0));
  EXPECT_EQ(CurrentDevice(), 1);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

TEST_F(ResetDevice, OtherThreadsAreUnboundUntilSomebodySetsTheDeviceAgain) {
  Worker worker;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  worker.Do([] { EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  worker.Do([] {
    ExpectNoDevice();
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
  });
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  worker.Do([] {
    EXPECT_EQ(CurrentDevice(), 0);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

using ResetDeviceForce = BareTest;

TEST_F(ResetDeviceForce, IdOutsideTheRangeIsRejected) {
  for (int32_t id : BadIds()) EXPECT_EQ(aclrtResetDeviceForce(id), ACL_ERROR_RT_INVALID_DEVICEID) << id;
}

TEST_F(ResetDeviceForce, DropsAnyCountAtOnce) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_FALSE(IsActive(0));
  ExpectNoDevice();
}

TEST_F(ResetDeviceForce, NothingMayFollowIt) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

using GetDevice = BareTest;

TEST_F(GetDevice, NullIsRejectedBeforeTheContext) { EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM); }

TEST_F(GetDevice, WithoutContextTheOutputStays) { ExpectNoDevice(); }

TEST_F(GetDevice, FollowsTheCurrentContext) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  EXPECT_EQ(CurrentDevice(), 1);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ExpectNoDevice();
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace set_device_test
}  // namespace ropeway_test
