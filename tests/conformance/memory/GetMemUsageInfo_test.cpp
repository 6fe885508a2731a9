// aclrtGetMemUsageInfo: who holds how much of a device.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace get_mem_usage_info_test {

using GetMemUsageInfo = DeviceTest;

struct Args : CallArgs {
  int32_t device = 0;
  bool null_info = false;
  size_t input = 64;
  bool null_output = false;
};

TEST_F(GetMemUsageInfo, EarlierCheckWins) {
  std::vector<aclrtMemUsageInfo> infos(64);
  size_t found = 77;
  const std::vector<Check<Args>> checks = {
      {"memUsageInfo NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_info = true; }},
      {"outputNum NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"inputNum 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.input = 0; }},
      {"bad device", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& a) { a.device = 100000; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
  };
  auto call = [&](const Args& a) {
    return aclrtGetMemUsageInfo(a.device, a.null_info ? nullptr : infos.data(), a.input, a.null_output ? nullptr : &found);
  };
  ExpectCheckOrder("aclrtGetMemUsageInfo", Args{}, checks, call, [] {});
}

TEST_F(GetMemUsageInfo, OutputNumIsZeroedOnceThePointersAreGood) {
  aclrtMemUsageInfo info = {};
  size_t found = 77;
  EXPECT_EQ(aclrtGetMemUsageInfo(0, nullptr, 1, &found), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(found, 77u);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, &info, 0, &found), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(found, 0u);
  found = 77;
  EXPECT_EQ(aclrtGetMemUsageInfo(-1, &info, 1, &found), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(found, 0u);
}

TEST_F(GetMemUsageInfo, LargestUserComesFirstAndPeaksAreNotBelowTheCurrentSize) {
  DeviceBuffer block(64 * kMiB);
  aclrtMallocAttribute module = {};
  module.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  module.value.moduleId = 3;
  aclrtMallocConfig cfg = {&module, 1};
  void* other = nullptr;
  ASSERT_EQ(aclrtMallocWithCfg(&other, 1 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST, &cfg), ACL_SUCCESS);
  std::vector<aclrtMemUsageInfo> infos(64);
  size_t found = 0;
  ASSERT_EQ(aclrtGetMemUsageInfo(0, infos.data(), infos.size(), &found), ACL_SUCCESS);
  ASSERT_GE(found, 1u);
  ASSERT_LE(found, infos.size());
  uint64_t sum = 0;
  for (size_t i = 0; i < found; ++i) {
    EXPECT_GE(infos[i].memPeakSize, infos[i].curMemSize) << infos[i].name;
    EXPECT_LT(strnlen(infos[i].name, sizeof(infos[i].name)), sizeof(infos[i].name)) << "no terminator";
    if (i > 0) EXPECT_GE(infos[i - 1].curMemSize, infos[i].curMemSize);
    sum += infos[i].curMemSize;
  }
  EXPECT_GE(infos[0].curMemSize, 64 * kMiB);
  EXPECT_GE(sum, 65 * kMiB);
  EXPECT_EQ(aclrtFree(other), ACL_SUCCESS);
}

TEST_F(GetMemUsageInfo, AtMostInputNumEntriesAreWritten) {
  DeviceBuffer block(1 * kMiB);
  aclrtMemUsageInfo infos[2];
  std::memset(infos, 0xAB, sizeof(infos));
  const auto before = BytesAt(&infos[1], sizeof(infos[1]));
  size_t found = 0;
  ASSERT_EQ(aclrtGetMemUsageInfo(0, infos, 1, &found), ACL_SUCCESS);
  EXPECT_LE(found, 1u);
  EXPECT_EQ(BytesAt(&infos[1], sizeof(infos[1])), before);
}

}  // namespace get_mem_usage_info_test
}  // namespace ropeway_test::bytes
