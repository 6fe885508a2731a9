// aclrtFreeWithDevSync and aclrtFreeHostWithDevSync: first the device is synchronised, then the block is freed.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace free_with_dev_sync_test {

struct Variant {
  const char* name;
  aclError (*allocate)(void** out, size_t size);
  aclError (*release)(void* block);
};

class FreeWithDevSync : public StreamTest, public ::testing::WithParamInterface<Variant> {
 protected:
  static void* Allocate(size_t size) {
    void* block = nullptr;
    EXPECT_EQ(GetParam().allocate(&block, size), ACL_SUCCESS);
    return block;
  }
  static aclError Release(void* block) { return GetParam().release(block); }
};

aclError AllocateDevice(void** out, size_t size) { return aclrtMalloc(out, size, ACL_MEM_MALLOC_HUGE_FIRST); }

INSTANTIATE_TEST_SUITE_P(Memory, FreeWithDevSync,
                         ::testing::Values(Variant{"aclrtFreeWithDevSync", &AllocateDevice, &aclrtFreeWithDevSync},
                                           Variant{"aclrtFreeHostWithDevSync", &aclrtMallocHost, &aclrtFreeHostWithDevSync}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(FreeWithDevSync, NullIsRejectedFirst) {
  const Outcome outcome = Observe([] { return Release(nullptr); });
  EXPECT_EQ(outcome.code, ACL_ERROR_INVALID_PARAM);
  ExpectReported(outcome, GetParam().name);
  EXPECT_EQ(OnFreshThread([] { return Release(nullptr); }), ACL_ERROR_INVALID_PARAM);
}

TEST_P(FreeWithDevSync, WithoutContextNothingIsFreed) {
  void* block = Allocate(64);
  int word = 0;
  EXPECT_EQ(OnFreshThread([&] { return Release(&word); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(OnFreshThread([&] { return Release(block); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(Release(block), ACL_SUCCESS);
}

TEST_P(FreeWithDevSync, RefusesWhatThePlainFreeRefuses) {
  void* block = Allocate(4096);
  int word = 0;
  EXPECT_EQ(Release(&word), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Release(static_cast<char*>(block) + 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Release(block), ACL_SUCCESS);
  EXPECT_EQ(Release(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_P(FreeWithDevSync, EveryStreamOfTheContextIsFinishedOnReturn) {
  DeviceBuffer device(4096);
  PinnedBuffer source(4096);
  PinnedBuffer target(4096);
  Fill(source, Pattern(4096, 1));
  void* block = Allocate(64);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 4096, source.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(target.get(), 4096, device.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  EXPECT_EQ(held.ReleaseDuring([&] { return Release(block); }), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(target.get(), 4096), Pattern(4096, 1));
}

TEST_P(FreeWithDevSync, ErrorOfTheSynchroniseIsReturnedAndNothingFreed) {
  DeviceBuffer device(64);
  void* block = Allocate(64);
  int word = 0;
  QueueFailingCopy(stream_, device);
  EXPECT_EQ(Release(block), ACL_ERROR_RT_SYS_DMA);
  aclrtPtrAttributes attributes = {};
  EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
  EXPECT_NE(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  QueueFailingCopy(stream_, device);
  EXPECT_EQ(Release(&word), ACL_ERROR_RT_SYS_DMA) << "the synchronise comes before the pointer";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "the error was delivered already";
  EXPECT_EQ(Release(block), ACL_SUCCESS);
}

}  // namespace free_with_dev_sync_test
}  // namespace ropeway_test::bytes
