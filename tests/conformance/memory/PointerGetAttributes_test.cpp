// aclrtPointerGetAttributes: where an address lives, and in pages of which size.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace pointer_get_attributes_test {

using PointerGetAttributes = DeviceTest;

// Every field has a value that no answer has, so that a missing write is seen.
aclrtPtrAttributes Unset() {
  aclrtPtrAttributes attributes;
  std::memset(&attributes, 0xAB, sizeof(attributes));
  return attributes;
}

bool IsUnset(const aclrtPtrAttributes& attributes) {
  const auto unset = Unset();
  return std::memcmp(&attributes, &unset, sizeof(unset)) == 0;
}

void ExpectAttributes(const void* pointer, aclrtMemLocationType type, uint32_t id, uint32_t page_size) {
  auto attributes = Unset();
  ASSERT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, type);
  if (type == ACL_MEM_LOCATION_TYPE_DEVICE) EXPECT_EQ(attributes.location.id, id);
  if (type == ACL_MEM_LOCATION_TYPE_HOST) EXPECT_EQ(attributes.location.id, 0u);
  EXPECT_EQ(attributes.pageSize, page_size);
  for (uint32_t word : attributes.rsv) EXPECT_EQ(word, 0u);
}

TEST_F(PointerGetAttributes, NullIsRejectedByTheOuterLayer) {
  int word = 0;
  auto attributes = Unset();
  for (int which = 0; which < 3; ++which) {
    const Outcome outcome =
        Observe([&] { return aclrtPointerGetAttributes(which == 1 ? &word : nullptr, which == 0 ? &attributes : nullptr); });
    EXPECT_EQ(outcome.code, ACL_ERROR_INVALID_PARAM);
    ExpectReported(outcome, "aclrtPointerGetAttributes");
  }
  EXPECT_TRUE(IsUnset(attributes));
}

TEST_F(PointerGetAttributes, DeviceMemoryByPolicy) {
  constexpr uint32_t kNormalPage = 4096;
  constexpr uint32_t kHugePage = 2 * kMiB;
  const struct {
    const char* what;
    size_t size;
    aclrtMemMallocPolicy policy;
    uint32_t page_size;
  } rows[] = {
      {"huge first, small", 1 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST, kNormalPage},
      {"huge first, large", 1 * kMiB + 1, ACL_MEM_MALLOC_HUGE_FIRST, kHugePage},
      {"huge only, small", 64, ACL_MEM_MALLOC_HUGE_ONLY, kHugePage},
      {"normal only, large", 8 * kMiB, ACL_MEM_MALLOC_NORMAL_ONLY, kNormalPage},
      {"huge first P2P, large", 8 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST_P2P, kHugePage},
      {"huge only P2P, small", 64, ACL_MEM_MALLOC_HUGE_ONLY_P2P, kHugePage},
      {"normal only P2P", 64, ACL_MEM_MALLOC_NORMAL_ONLY_P2P, kNormalPage},
      {"1 GiB pages", 1 * kGiB, ACL_MEM_MALLOC_HUGE1G_ONLY, static_cast<uint32_t>(kGiB)},
      {"1 GiB pages P2P", 1 * kGiB, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P, static_cast<uint32_t>(kGiB)},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, row.size, row.policy), ACL_SUCCESS);
    ExpectAttributes(block, ACL_MEM_LOCATION_TYPE_DEVICE, 0, row.page_size);
    ExpectAttributes(static_cast<char*>(block) + row.size - 1, ACL_MEM_LOCATION_TYPE_DEVICE, 0, row.page_size);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
}

TEST_F(PointerGetAttributes, HostMemory) {
  PinnedBuffer pinned(4096);
  int local = 0;
  static int global = 0;
  ExpectAttributes(pinned.get(), ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  ExpectAttributes(pinned.get() + 4095, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  ExpectAttributes(&local, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  ExpectAttributes(&global, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  ExpectAttributes(reinterpret_cast<void*>(uintptr_t{1}), ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  ExpectAttributes(reinterpret_cast<void*>(~uintptr_t{0}), ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
}

TEST_F(PointerGetAttributes, PinnedMemoryIsPageableAfterFree) {
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  ExpectAttributes(pinned, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
}

TEST_F(PointerGetAttributes, AddressInNoBlockIsRejected) {
  DeviceBuffer device(100);  // reserved: 128 + 32
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  auto attributes = Unset();
  for (const void* pointer : {static_cast<const void*>(freed), static_cast<const void*>(device.at(160))}) {
    const Outcome outcome = Observe([&] { return aclrtPointerGetAttributes(pointer, &attributes); });
    EXPECT_EQ(outcome.code, ACL_ERROR_RT_PARAM_INVALID);
    ExpectReported(outcome, "aclrtPointerGetAttributes");
  }
  EXPECT_TRUE(IsUnset(attributes));
  ExpectAttributes(device.at(159), ACL_MEM_LOCATION_TYPE_DEVICE, 0, 4096);
}

TEST_F(PointerGetAttributes, NeedsNoContext) {
  DeviceBuffer device(64);
  OnFreshThread([&] { ExpectAttributes(device.get(), ACL_MEM_LOCATION_TYPE_DEVICE, 0, 4096); });
}

TEST_F(PointerGetAttributes, IdIsTheOwningDevice) {
  uint32_t devices = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
  if (devices < 2) GTEST_SKIP() << "needs two devices, there are " << devices;
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  {
    DeviceBuffer device(64);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ExpectAttributes(device.get(), ACL_MEM_LOCATION_TYPE_DEVICE, 1, 4096);
  }
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
}

}  // namespace pointer_get_attributes_test
}  // namespace ropeway_test::bytes
