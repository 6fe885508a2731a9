// Copies between two devices: what lies on another device than the one that executes the copy must have been enabled.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace peer_copy_test {

constexpr size_t kSize = 1000;

// Devices 0 and 1, with a stream and a block on each; device 0 is current. Peer access is off before and after.
class PeerCopy : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    uint32_t devices = 0;
    ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
    if (devices < 2) GTEST_SKIP() << "needs two devices, there are " << devices;
    for (int device : {1, 0}) {
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateStream(&streams_[device]), ACL_SUCCESS);
      ASSERT_EQ(aclrtMalloc(&blocks_[device], kSize, ACL_MEM_MALLOC_HUGE_FIRST_P2P), ACL_SUCCESS);
      Fill(device, Pattern(kSize, 1 + static_cast<uint32_t>(device)));
    }
  }
  void TearDown() override {
    for (int device : {1, 0}) {
      if (streams_[device] == nullptr) continue;
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      EXPECT_EQ(aclrtDeviceDisablePeerAccess(1 - device), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(blocks_[device]), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyStream(streams_[device]), ACL_SUCCESS);
    }
    if (streams_[1] != nullptr) EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
    DeviceTest::TearDown();
  }

  // Both need `device` to be current.
  void Fill(int device, const std::vector<uint8_t>& bytes) {
    ASSERT_EQ(aclrtMemcpy(blocks_[device], kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  std::vector<uint8_t> Read(int device) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    std::vector<uint8_t> bytes(kSize);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), kSize, blocks_[device], kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    return bytes;
  }
  aclError CopySync(int to, int from) { return aclrtMemcpy(blocks_[to], kSize, blocks_[from], kSize, ACL_MEMCPY_DEVICE_TO_DEVICE); }
  aclError CopyAsync(int to, int from, int executing) {
    return aclrtMemcpyAsync(blocks_[to], kSize, blocks_[from], kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, streams_[executing]);
  }

  aclrtStream streams_[2] = {};
  void* blocks_[2] = {};
};

TEST_F(PeerCopy, IsRejectedWhileAccessIsOff) {
  PinnedBuffer pinned(kSize);
  EXPECT_EQ(CopySync(0, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(CopySync(1, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(CopyAsync(0, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(CopyAsync(1, 0, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(blocks_[1], kSize, pinned.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(pinned.get(), kSize, blocks_[1], kSize, ACL_MEMCPY_DEVICE_TO_HOST, streams_[0]), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStream(streams_[0]), ACL_SUCCESS);
  EXPECT_EQ(Read(0), Pattern(kSize, 1));
  EXPECT_EQ(Read(1), Pattern(kSize, 2));
}

TEST_F(PeerCopy, SyncCopyWorksOnceEnabled) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  ASSERT_EQ(CopySync(0, 1), ACL_SUCCESS);
  EXPECT_EQ(Read(0), Pattern(kSize, 2));
  Fill(0, Pattern(kSize, 3));
  ASSERT_EQ(CopySync(1, 0), ACL_SUCCESS);
  EXPECT_EQ(Read(1), Pattern(kSize, 3));
}

TEST_F(PeerCopy, AsyncCopyWorksOnceEnabledAndWaitsForItsStream) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  HeldStream held(streams_[0]);
  ASSERT_EQ(CopyAsync(0, 1, 0), ACL_SUCCESS);
  EXPECT_EQ(Read(0), Pattern(kSize, 1));
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(Read(0), Pattern(kSize, 2));
}

TEST_F(PeerCopy, HostMemoryReachesTheEnabledPeer) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  PinnedBuffer pinned(kSize);
  std::memcpy(pinned.get(), Pattern(kSize, 4).data(), kSize);
  ASSERT_EQ(aclrtMemcpyAsync(blocks_[1], kSize, pinned.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, streams_[0]), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(streams_[0]), ACL_SUCCESS);
  EXPECT_EQ(Read(1), Pattern(kSize, 4));
}

// Device 0 was allowed to reach device 1; that says nothing about the other direction.
TEST_F(PeerCopy, OneDirectionDoesNotEnableTheOther) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(CopySync(0, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(CopyAsync(1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  EXPECT_EQ(CopySync(0, 1), ACL_SUCCESS);
  EXPECT_EQ(CopyAsync(1, 0, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(streams_[1]), ACL_SUCCESS);
}

TEST_F(PeerCopy, EachDeviceReachesItsOwnMemoryWithoutEnabling) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Fill(1, Pattern(kSize, 5));
  EXPECT_EQ(Read(1), Pattern(kSize, 5));
}

TEST_F(PeerCopy, AccessBelongsToTheDeviceNotToContextOrThread) {
  OnFreshThread([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  });
  ForeignStream other;
  aclrtContext home = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), ACL_SUCCESS);
  EXPECT_EQ(CopySync(0, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(other.context()), ACL_SUCCESS);
  EXPECT_EQ(CopySync(1, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(home), ACL_SUCCESS);
}

TEST_F(PeerCopy, OneDisableEndsWhatTwoEnablesBegan) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  EXPECT_EQ(CopySync(0, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Read(0), Pattern(kSize, 1));
}

TEST_F(PeerCopy, IsTheLastCheck) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(blocks_[1], kSize, blocks_[1], kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS) << "self copy";
  EXPECT_EQ(aclrtMemcpy(blocks_[1], 0, blocks_[0], 0, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS) << "nothing to copy";
  EXPECT_EQ(CopyAsync(0, 1, 1), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(OnFreshThread([&] { return CopySync(0, 1); }), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(PeerCopy, TwoDimensionalCopyFollowsTheSameRule) {
  auto copy = [&] { return aclrtMemcpy2dAsync(blocks_[0], 100, blocks_[1], 100, 100, 10, ACL_MEMCPY_DEVICE_TO_DEVICE, streams_[0]); };
  EXPECT_EQ(copy(), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  ASSERT_EQ(copy(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(streams_[0]), ACL_SUCCESS);
  EXPECT_EQ(Read(0), Pattern(kSize, 2));
}

}  // namespace peer_copy_test
}  // namespace ropeway_test::bytes
