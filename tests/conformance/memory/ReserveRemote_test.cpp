// ropewayReserveRemote: addresses that stand for memory of another host. Every call of the runtime says so instead of touching them.
#ifndef ROPEWAY_TEST_VENDOR
#include "ropeway/ropeway.h"
#include "tests/support/acl_test.h"

namespace ropeway_test {
namespace reserve_remote_test {

class ReserveRemote : public StreamTest {
 protected:
  static constexpr size_t kSize = 4096;
  void SetUp() override {
    StreamTest::SetUp();
    ASSERT_EQ(ropewayReserveRemote(kSize, &remote_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(ropewayReleaseRemote(remote_), ACL_SUCCESS);
    StreamTest::TearDown();
  }
  void* remote_ = nullptr;
};

TEST_F(ReserveRemote, CopiesOfEveryKindAreRefused) {
  DeviceBuffer device(kSize);
  PinnedBuffer pinned(kSize);
  std::vector<uint8_t> pageable(kSize);
  for (void* other : {device.get(), static_cast<void*>(pinned.get()), static_cast<void*>(pageable.data())}) {
    for (const aclrtMemcpyKind kind :
         {ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
      EXPECT_NE(aclrtMemcpy(other, kSize, remote_, kSize, kind), ACL_SUCCESS) << kind;
      EXPECT_NE(aclrtMemcpy(remote_, kSize, other, kSize, kind), ACL_SUCCESS) << kind;
      EXPECT_NE(aclrtMemcpyAsync(other, kSize, remote_, kSize, kind, stream_), ACL_SUCCESS) << kind;
      EXPECT_NE(aclrtMemcpyAsync(remote_, kSize, other, kSize, kind, stream_), ACL_SUCCESS) << kind;
    }
  }
  EXPECT_EQ(aclrtMemcpy(device.get(), kSize, remote_, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(TakeErrorText().find("stands for memory of another host"), std::string::npos);
}

TEST_F(ReserveRemote, NothingElseTouchesThem) {
  EXPECT_EQ(aclrtMemset(remote_, kSize, 1, kSize), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetAsync(remote_, kSize, 1, kSize, stream_), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(remote_, &attributes), ACL_ERROR_RT_PARAM_INVALID);
  void* alias = nullptr;
  EXPECT_EQ(aclrtHostRegister(remote_, kSize, ACL_HOST_REGISTER_MAPPED, &alias), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(ReserveRemote, ItsOwnChecks) {
  void* address = nullptr;
  EXPECT_EQ(ropewayReserveRemote(kSize, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayReserveRemote(0, &address), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayReserveRemote(SIZE_MAX / 2, &address), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(ropewayReleaseRemote(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayReleaseRemote(static_cast<char*>(remote_) + 1), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(ropewayReserveRemote(kSize, &address), ACL_SUCCESS);
  EXPECT_EQ(ropewayReleaseRemote(address), ACL_SUCCESS);
  EXPECT_EQ(ropewayReleaseRemote(address), ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace reserve_remote_test
}  // namespace ropeway_test
#endif
