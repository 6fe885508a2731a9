// hrtMemSyncCopy, hrtMemAsyncCopy, hcclStreamSynchronize, and hccl::P2PMgmtPub.
#include "dispatcher_test_util.h"
#include "p2p_mgmt_pub.h"

namespace hccl_runtime_names_test {

using namespace dispatcher_test;
using hccl::P2PMgmtPub;

class HcclRuntimeNames : public ropeway_test::StreamTest {};

TEST_F(HcclRuntimeNames, SyncCopy) {
  const auto bytes = Pattern(64, 1);
  std::vector<uint8_t> back(64);
  DeviceBuffer device(64);
  EXPECT_EQ(hrtMemSyncCopy(nullptr, 64, bytes.data(), 0, kH2D), HCCL_E_PTR);
  EXPECT_EQ(hrtMemSyncCopy(device.get(), 64, nullptr, 0, kH2D), HCCL_E_PTR);
  EXPECT_EQ(hrtMemSyncCopy(device.get(), 0, bytes.data(), 0, HCCL_RT_MEMCPY_KIND_RESERVED), HCCL_SUCCESS);
  EXPECT_EQ(hrtMemSyncCopy(device.get(), 64, bytes.data(), 64, HCCL_RT_MEMCPY_KIND_RESERVED), HCCL_E_PARA);
  EXPECT_EQ(hrtMemSyncCopy(device.get(), 63, bytes.data(), 64, kH2D), HCCL_E_RUNTIME);
  EXPECT_EQ(hrtMemSyncCopy(device.get(), 64, bytes.data(), 64, kH2D), HCCL_SUCCESS);
  EXPECT_EQ(hrtMemSyncCopy(back.data(), 64, device.get(), 64, kD2H), HCCL_SUCCESS);
  EXPECT_EQ(back, bytes);
  TakeErrorText();
}

TEST_F(HcclRuntimeNames, SyncCopyGoesOnWhileAStreamIsCaptured) {
  const auto bytes = Pattern(64, 1);
  DeviceBuffer device(64);
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  EXPECT_EQ(hrtMemSyncCopy(device.get(), 64, bytes.data(), 64, kH2D), HCCL_SUCCESS);
  EXPECT_NE(aclrtMemcpy(device.get(), 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS) << "the thread is as before";
  aclmdlRICaptureEnd(stream_, &model);
  if (model != nullptr) EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  TakeErrorText();
}

TEST_F(HcclRuntimeNames, AsyncCopy) {
  PinnedBuffer from(64);
  PinnedBuffer back(64);
  DeviceBuffer device(64);
  memset(from.get(), 3, 64);
  memset(back.get(), 0, 64);
  EXPECT_EQ(hrtMemAsyncCopy(nullptr, 64, from.get(), 0, kH2D, stream_), HCCL_E_PTR);
  EXPECT_EQ(hrtMemAsyncCopy(device.get(), 64, nullptr, 0, kH2D, stream_), HCCL_E_PTR);
  EXPECT_EQ(hrtMemAsyncCopy(device.get(), 0, from.get(), 0, HCCL_RT_MEMCPY_KIND_RESERVED, stream_), HCCL_SUCCESS);
  EXPECT_EQ(hrtMemAsyncCopy(device.get(), 64, from.get(), 64, HCCL_RT_MEMCPY_ADDR_DEVICE_TO_DEVICE, stream_), HCCL_E_PARA);
  EXPECT_EQ(hrtMemAsyncCopy(device.get(), 63, from.get(), 64, kH2D, stream_), HCCL_E_RUNTIME);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  EXPECT_EQ(hrtMemAsyncCopy(device.get(), 64, from.get(), 64, kH2D, stream_), HCCL_SUCCESS);
  EXPECT_EQ(hrtMemAsyncCopy(back.get(), 64, device.get(), 64, kD2H, stream_), HCCL_SUCCESS);
  EXPECT_EQ(back.get()[0], 0);
  gate.Open();
  EXPECT_EQ(hcclStreamSynchronize(stream_), HCCL_SUCCESS);
  EXPECT_EQ(back.get()[63], 3);
  TakeErrorText();
}

TEST_F(HcclRuntimeNames, Synchronise) {
  EXPECT_EQ(hcclStreamSynchronize(nullptr), HCCL_E_PTR);
  EXPECT_EQ(hcclStreamSynchronize(stream_, 0), HCCL_E_PARA);
  EXPECT_EQ(hcclStreamSynchronize(stream_, -5), HCCL_E_PARA);
  EXPECT_EQ(hcclStreamSynchronize(stream_, 2147483647), HCCL_SUCCESS);
  int word = 0;
  EXPECT_EQ(hcclStreamSynchronize(&word), HCCL_E_RUNTIME);
  DeviceBuffer device(64);
  ropeway_test::bytes::QueueFailingCopy(stream_, device);
  EXPECT_EQ(hcclStreamSynchronize(stream_), HCCL_E_RUNTIME);
  EXPECT_EQ(hcclStreamSynchronize(stream_), HCCL_SUCCESS) << "told once";
  TakeErrorText();
}

class HcclP2P : public ropeway_test::DeviceTest {
 protected:
  static bool Enabled() {
    int32_t on = -1;
    EXPECT_EQ(aclrtDevicePeerAccessStatus(0, 1, &on), ACL_SUCCESS);
    return on == 1;
  }
};

TEST_F(HcclP2P, AccessIsCounted) {
  EXPECT_EQ(P2PMgmtPub::WaitP2PEnabled({1}), HCCL_E_NOT_FOUND);
  EXPECT_EQ(P2PMgmtPub::EnableP2P({1, 0}), HCCL_SUCCESS) << "the device itself may be among them";
  EXPECT_EQ(P2PMgmtPub::EnableP2P({1}), HCCL_SUCCESS);
  EXPECT_EQ(P2PMgmtPub::WaitP2PEnabled({0, 1}), HCCL_SUCCESS);
  EXPECT_EQ(P2PMgmtPub::WaitP2PEnabled({1}, [] { return true; }), HCCL_E_AGAIN);
  EXPECT_TRUE(Enabled());
  EXPECT_EQ(P2PMgmtPub::DisableP2P({1, 0}), HCCL_SUCCESS);
  EXPECT_TRUE(Enabled());
  EXPECT_EQ(P2PMgmtPub::DisableP2P({1}), HCCL_SUCCESS);
  EXPECT_FALSE(Enabled());
  EXPECT_EQ(P2PMgmtPub::DisableP2P({1}), HCCL_E_NOT_FOUND);
  TakeErrorText();
}

TEST_F(HcclP2P, AnUnknownDeviceEnablesNothing) {
  EXPECT_EQ(P2PMgmtPub::EnableP2P({1, 4711}), HCCL_E_PARA);
  EXPECT_FALSE(Enabled());
  EXPECT_EQ(P2PMgmtPub::DisableP2P({4711}), HCCL_E_PARA);
  EXPECT_EQ(P2PMgmtPub::WaitP2PEnabled({4711}), HCCL_E_PARA);
  EXPECT_NE(TakeErrorText().find("4711"), std::string::npos);
}

TEST_F(HcclP2P, ADeviceMustBeSet) {
  EXPECT_EQ(ropeway_test::bytes::OnFreshThread([] { return P2PMgmtPub::EnableP2P({1}); }), HCCL_E_RUNTIME);
}

}  // namespace hccl_runtime_names_test
