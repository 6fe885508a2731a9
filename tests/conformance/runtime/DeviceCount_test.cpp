// Device count, run mode and the six id conversions, without a visibility list (tests/process has those).
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace device_count_test {

using DeviceCount = BareTest;

TEST_F(DeviceCount, NeedsNoDevice) {
  uint32_t count = 0;
  EXPECT_EQ(WithoutContext([&] { return aclrtGetDeviceCount(&count); }), ACL_SUCCESS);
  EXPECT_GT(count, 0u);
}

TEST_F(DeviceCount, NullIsRejected) { EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM); }

using RunMode = BareTest;

TEST_F(RunMode, IsHostAndNeedsNoContext) {
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(WithoutContext([&] { return aclrtGetRunMode(&mode); }), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_EQ(static_cast<int>(mode), 1);
}

TEST_F(RunMode, NullIsRejected) { EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM); }

struct Conversion {
  const char* name;
  aclError (*call)(const int32_t, int32_t* const);
};

void PrintTo(const Conversion& conversion, std::ostream* out) { *out << conversion.name; }

class DeviceIdConversion : public BareTest, public ::testing::WithParamInterface<Conversion> {};

INSTANTIATE_TEST_SUITE_P(
    All, DeviceIdConversion,
    ::testing::Values(Conversion{"LogicByUser", &aclrtGetLogicDevIdByUserDevId}, Conversion{"UserByLogic", &aclrtGetUserDevIdByLogicDevId},
                      Conversion{"LogicByPhy", &aclrtGetLogicDevIdByPhyDevId}, Conversion{"PhyByLogic", &aclrtGetPhyDevIdByLogicDevId},
                      Conversion{"UserByPhy", &aclrtGetUserDevIdByPhyDevId}, Conversion{"PhyByUser", &aclrtGetPhyDevIdByUserDevId}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_P(DeviceIdConversion, IsTheIdentityWithoutAFilter) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  for (int32_t id = 0; id < static_cast<int32_t>(count); ++id) {
    int32_t other = -1;
    EXPECT_EQ(GetParam().call(id, &other), ACL_SUCCESS);
    EXPECT_EQ(other, id);
  }
}

TEST_P(DeviceIdConversion, NullIsRejectedFirst) {
  EXPECT_EQ(GetParam().call(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(GetParam().call(-1, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_P(DeviceIdConversion, UnknownIdIsRejectedAndTheOutputStays) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  for (int32_t id : {-1, static_cast<int32_t>(count), INT_MAX, INT_MIN}) {
    int32_t other = 77;
    EXPECT_EQ(GetParam().call(id, &other), ACL_ERROR_RT_INVALID_DEVICEID) << id;
    EXPECT_EQ(other, 77) << id;
  }
}

}  // namespace device_count_test
}  // namespace ropeway_test
