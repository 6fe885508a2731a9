// Batches whose items lie on two devices: the declared id tells them apart, and what lies on another device than the
// one that executes the batch must have been enabled (rules/devices.md 5).
#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_peer_test {

constexpr size_t kSize = 1000;

// Devices 0 and 1 with a block on each; device 0 is current and has the stream. Peer access is off before and after.
class MemcpyBatchPeer : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    uint32_t devices = 0;
    ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
    if (devices < 2) GTEST_SKIP() << "needs two devices, there are " << devices;
    for (int device : {1, 0}) {
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      ASSERT_EQ(aclrtMalloc(&blocks_[device], kSize, ACL_MEM_MALLOC_HUGE_FIRST_P2P), ACL_SUCCESS);
      const auto bytes = Old(device);
      ASSERT_EQ(aclrtMemcpy(blocks_[device], kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    if (blocks_[1] != nullptr) {
      EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(blocks_[0]), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(blocks_[1]), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
    }
    BatchTest::TearDown();
  }

  static std::vector<uint8_t> Old(int device) { return Pattern(kSize, 10 + static_cast<uint32_t>(device)); }
  std::vector<uint8_t> Read(int device) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    std::vector<uint8_t> bytes(kSize);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), kSize, blocks_[device], kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    return bytes;
  }
  void* At(int device, size_t offset) const { return static_cast<char*>(blocks_[device]) + offset; }

  // One item to `device`, declared as device `id`.
  Batch To(int device, const void* host, uint32_t id) const {
    return Batch().Declare(DeviceLocation(id), HostLocation()).Add(blocks_[device], host, kSize);
  }

  void* blocks_[2] = {};
};

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchPeer, ::testing::Values(kBatchAsync, kBatchAsyncV2, kBatch, kBatchV2), FormName);

TEST_P(MemcpyBatchPeer, IsRejectedWhileAccessIsOffWithoutNamingAnItem) {
  PinnedBuffer pinned(kSize);
  std::vector<uint8_t> pageable(kSize);
  std::memset(pinned.get(), 0, kSize);
  for (const void* host : {static_cast<const void*>(pinned.get()), static_cast<const void*>(pageable.data())}) {
    Expect(ACL_ERROR_RT_PARAM_INVALID, kNoItem, To(1, host, 1));
    Batch back;
    back.Declare(HostLocation(), DeviceLocation(1)).Add(const_cast<void*>(host), blocks_[1], kSize);
    Expect(ACL_ERROR_RT_PARAM_INVALID, kNoItem, back);
  }
  Finish();
  EXPECT_EQ(Read(1), Old(1));
  EXPECT_EQ(BytesAt(pinned.get(), kSize), std::vector<uint8_t>(kSize));
  EXPECT_EQ(pageable, std::vector<uint8_t>(kSize));
}

TEST_P(MemcpyBatchPeer, ReachesTheEnabledPeerFromPinnedAndPageableMemory) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  PinnedBuffer pinned(kSize);
  Fill(pinned, Pattern(kSize, 1));
  const auto pageable = Pattern(kSize, 2);
  ExpectSuccess(To(1, pinned.get(), 1));
  Finish();
  EXPECT_EQ(Read(1), Pattern(kSize, 1));
  ExpectSuccess(To(1, pageable.data(), 1));
  EXPECT_EQ(Read(1), pageable);
}

TEST_P(MemcpyBatchPeer, DeclaredIdIsTheDeviceOfTheMemoryNotTheCurrentOne) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  PinnedBuffer pinned(kSize);
  Expect(ACL_ERROR_RT_PARAM_INVALID, 0, To(1, pinned.get(), 0));
  Expect(ACL_ERROR_RT_PARAM_INVALID, 0, To(0, pinned.get(), 1));
  Finish();
  EXPECT_EQ(Read(0), Old(0));
  EXPECT_EQ(Read(1), Old(1));
}

TEST_P(MemcpyBatchPeer, WrongLocationComesBeforeMissingAccess) {
  PinnedBuffer pinned(kSize);
  Expect(ACL_ERROR_RT_PARAM_INVALID, 0, To(1, pinned.get(), 0));
}

TEST_P(MemcpyBatchPeer, AttributesTellItemsOfTwoDevicesApart) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  PinnedBuffer pinned(kSize);
  Fill(pinned, Pattern(kSize, 3));
  Batch batch;
  batch.Declare(DeviceLocation(0), HostLocation());
  for (size_t i = 0; i < 5; ++i) batch.Add(At(0, i * 100), pinned.get() + i * 100, 100);
  batch.Declare(DeviceLocation(1), HostLocation());
  for (size_t i = 5; i < 10; ++i) batch.Add(At(1, i * 100), pinned.get() + i * 100, 100);
  Batch shifted = batch;
  shifted.indexes[1] = 6;
  Expect(ACL_ERROR_RT_PARAM_INVALID, 5, shifted);
  shifted.indexes[1] = 4;
  Expect(ACL_ERROR_RT_PARAM_INVALID, 4, shifted);
  ExpectSuccess(batch);
  Finish();
  auto expected_0 = Old(0);
  auto expected_1 = Old(1);
  std::memcpy(expected_0.data(), pinned.get(), 500);
  std::memcpy(expected_1.data() + 500, pinned.get() + 500, 500);
  EXPECT_EQ(Read(0), expected_0);
  EXPECT_EQ(Read(1), expected_1);
}

}  // namespace memcpy_batch_peer_test
}  // namespace ropeway_test::bytes
