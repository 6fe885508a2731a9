// aclrtHostMemMapCapabilities: can an accelerator of the device reach mapped host memory.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace host_mem_map_capabilities_test {

using HostMemMapCapabilities = DeviceTest;

struct Args : CallArgs {
  uint32_t device = 0;
  int type = ACL_RT_HAC_TYPE_SDMA;
  bool null_output = false;
};

const auto kUnset = static_cast<aclrtHostMemMapCapability>(77);

TEST_F(HostMemMapCapabilities, EarlierCheckWins) {
  auto out = kUnset;
  const std::vector<Check<Args>> checks = {
      {"capabilities NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"bad device", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& a) { a.device = 100000; }},
      {"hacType 10", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.type = 10; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
  };
  auto call = [&](const Args& a) {
    return aclrtHostMemMapCapabilities(a.device, static_cast<aclrtHacType>(a.type), a.null_output ? nullptr : &out);
  };
  ExpectCheckOrder("aclrtHostMemMapCapabilities", Args{}, checks, call, [&] { EXPECT_EQ(out, kUnset); });
  EXPECT_TRUE(out == ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED || out == ACL_RT_HOST_MEM_MAP_SUPPORTED) << out;
}

TEST_F(HostMemMapCapabilities, EveryKnownTypeHasAnAnswer) {
  for (int type = 0; type <= 9; ++type) {
    auto out = kUnset;
    EXPECT_EQ(aclrtHostMemMapCapabilities(0, static_cast<aclrtHacType>(type), &out), ACL_SUCCESS) << "type " << type;
    EXPECT_TRUE(out == ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED || out == ACL_RT_HOST_MEM_MAP_SUPPORTED) << "type " << type;
  }
  for (int type : {-1, 10, 1000}) {
    auto out = kUnset;
    EXPECT_EQ(aclrtHostMemMapCapabilities(0, static_cast<aclrtHacType>(type), &out), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(out, kUnset);
  }
}

TEST_F(HostMemMapCapabilities, DeviceIdIsChecked) {
  uint32_t devices = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
  auto out = kUnset;
  for (uint32_t device : {devices, UINT32_MAX}) {
    EXPECT_EQ(aclrtHostMemMapCapabilities(device, ACL_RT_HAC_TYPE_SDMA, &out), ACL_ERROR_RT_INVALID_DEVICEID) << device;
  }
  EXPECT_EQ(out, kUnset);
}

}  // namespace host_mem_map_capabilities_test
}  // namespace ropeway_test::bytes
