// aclrtGetMemInfo: one pool, reported under the names of the vendor's pools.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace get_mem_info_test {

using GetMemInfo = DeviceTest;

struct Args : CallArgs {
  int attr = ACL_HBM_MEM;
  bool null_free = false;
  bool null_total = false;
};

TEST_F(GetMemInfo, EarlierCheckWins) {
  size_t free_bytes = 77;
  size_t total_bytes = 78;
  const std::vector<Check<Args>> checks = {
      {"free NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_free = true; }},
      {"total NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_total = true; }},
      {"attr 18", ACL_ERROR_RT_INVALID_MEMORY_TYPE, [](Args& a) { a.attr = 18; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
  };
  auto call = [&](const Args& a) {
    return aclrtGetMemInfo(static_cast<aclrtMemAttr>(a.attr), a.null_free ? nullptr : &free_bytes, a.null_total ? nullptr : &total_bytes);
  };
  ExpectCheckOrder("aclrtGetMemInfo", Args{}, checks, call, [&] {
    EXPECT_EQ(free_bytes, 77u);
    EXPECT_EQ(total_bytes, 78u);
  });
  EXPECT_GT(total_bytes, 78u);
}

TEST_F(GetMemInfo, AttributeOutsideTheListIsRejected) {
  size_t free_bytes = 77;
  size_t total_bytes = 78;
  for (int attr : {-1, 18, 1000}) {
    EXPECT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free_bytes, &total_bytes), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
  }
  EXPECT_EQ(free_bytes, 77u);
  EXPECT_EQ(total_bytes, 78u);
}

// rules/memory.md 3: HBM and its huge pools are the pool, 1 GiB pools are rounded down, normal and DDR pools are empty.
TEST_F(GetMemInfo, EveryAttributeReportsItsShareOfTheOnePool) {
  DeviceBuffer block(5 * kMiB);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
  EXPECT_GT(total_bytes, 0u);
  EXPECT_LT(free_bytes, total_bytes);
  enum Share { kNone, kWhole, kGigabytes };
  const Share shares[18] = {
      kNone,      kWhole,     kNone,      kNone, kWhole, kNone,  // DDR, HBM, DDR huge, DDR normal, HBM huge, HBM normal
      kNone,      kNone,      kWhole,     kNone,                 // P2P: DDR huge, DDR normal, HBM huge, HBM normal
      kGigabytes, kGigabytes,                                    // HBM 1 GiB, HBM P2P 1 GiB
      kNone,      kWhole,     kGigabytes,                        // MEM normal, huge, 1 GiB
      kNone,      kWhole,     kGigabytes,                        // MEM P2P normal, huge, 1 GiB
  };
  for (int attr = 0; attr < 18; ++attr) {
    SCOPED_TRACE(attr);
    size_t free_now = 1;
    size_t total_now = 1;
    ASSERT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free_now, &total_now), ACL_SUCCESS);
    const size_t unit = shares[attr] == kGigabytes ? kGiB : 1;
    EXPECT_EQ(free_now, shares[attr] == kNone ? 0 : free_bytes / unit * unit);
    EXPECT_EQ(total_now, shares[attr] == kNone ? 0 : total_bytes / unit * unit);
  }
}

TEST_F(GetMemInfo, FollowsEveryAllocationAtOnce) {
  const size_t at_start = FreeDeviceBytes();
  {
    DeviceBuffer small(1);
    EXPECT_EQ(at_start - FreeDeviceBytes(), 64u);
    DeviceBuffer large(10 * kMiB);
    EXPECT_EQ(at_start - FreeDeviceBytes(), 64u + 10 * kMiB + 32);
  }
  EXPECT_EQ(FreeDeviceBytes(), at_start);
}

TEST_F(GetMemInfo, AnswersForTheDeviceOfTheCurrentContext) {
  uint32_t devices = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
  if (devices < 2) GTEST_SKIP() << "needs two devices, there are " << devices;
  DeviceBuffer block(1 * kMiB);
  const size_t first = FreeDeviceBytes();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  size_t free_bytes = 0;
  size_t total_bytes = 1;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
  EXPECT_EQ(free_bytes, total_bytes) << "nothing is allocated on device 1";
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), first);
}

TEST_F(GetMemInfo, TextNamesCallArgumentAndValue) {
  size_t bytes = 0;
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtGetMemInfo", "free"}, [&] { return aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &bytes); });
  ExpectText(ACL_ERROR_RT_INVALID_MEMORY_TYPE, {"aclrtGetMemInfo", "attr", "99"},
             [&] { return aclrtGetMemInfo(static_cast<aclrtMemAttr>(99), &bytes, &bytes); });
}

}  // namespace get_mem_info_test
}  // namespace ropeway_test::bytes
