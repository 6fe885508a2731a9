// Status, attributes, capabilities, limits, bus ids, topology and atomics of a device.
#include <unistd.h>

#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace device_queries_test {

int32_t PastLast() {
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  return static_cast<int32_t>(count);
}

using QueryDeviceStatus = DeviceTest;

TEST_F(QueryDeviceStatus, IsNormal) {
  aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
  EXPECT_EQ(aclrtQueryDeviceStatus(0, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
}

TEST_F(QueryDeviceStatus, NullThenBadId) {
  aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
  EXPECT_EQ(aclrtQueryDeviceStatus(-1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtQueryDeviceStatus(-1, &status), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtQueryDeviceStatus(PastLast(), &status), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_END);
}

using GetDeviceInfo = DeviceTest;

TEST_F(GetDeviceInfo, NullThenBadIdWhichIs107000Here) {
  int64_t value = -7;
  auto past_last = static_cast<uint32_t>(PastLast());
  EXPECT_EQ(aclrtGetDeviceInfo(past_last, ACL_DEV_ATTR_AICORE_CORE_NUM, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceInfo(past_last, ACL_DEV_ATTR_AICORE_CORE_NUM, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetDeviceInfo(UINT_MAX, ACL_DEV_ATTR_AICORE_CORE_NUM, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(value, -7);
}

TEST_F(GetDeviceInfo, ValuesOfThisProduct) {
  auto value = [](aclrtDevAttr attr) {
    int64_t result = -7;
    EXPECT_EQ(aclrtGetDeviceInfo(0, attr, &result), ACL_SUCCESS) << attr;
    return result;
  };
  EXPECT_GT(value(ACL_DEV_ATTR_AICPU_CORE_NUM), 0);
  EXPECT_GT(value(ACL_DEV_ATTR_AICORE_CORE_NUM), 0);
  EXPECT_GT(value(ACL_DEV_ATTR_CUBE_CORE_NUM), 0);
  EXPECT_GT(value(ACL_DEV_ATTR_VECTOR_CORE_NUM), 0);
  EXPECT_GT(value(ACL_DEV_ATTR_L2_CACHE_SIZE), 0);
  EXPECT_EQ(value(ACL_DEV_ATTR_NPU_ARCH), 2201);
  EXPECT_EQ(value(ACL_DEV_ATTR_IS_VIRTUAL), 0);
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(value(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), static_cast<int64_t>(total));
}

TEST_F(GetDeviceInfo, AttributesOfAnotherProductAreZeroOrRefused) {
  for (int attr = ACL_DEV_ATTR_WARP_SIZE; attr <= ACL_DEV_ATTR_MAX_BLOCK_DIM_Z; ++attr) {
    int64_t value = -7;
    EXPECT_EQ(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attr), &value), ACL_SUCCESS) << attr;
    EXPECT_EQ(value, 0) << attr;
  }
  for (int attr : {408, 409, 9999}) {
    int64_t value = -7;
    EXPECT_NE(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attr), &value), ACL_SUCCESS) << attr;
    EXPECT_EQ(value, -7) << attr;
  }
}

using DeviceCapability = DeviceTest;

TEST_F(DeviceCapability, FeatureIsSupportedOrNot) {
  for (auto feature : {ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV}) {
    int32_t value = -7;
    EXPECT_EQ(aclrtGetDeviceCapability(0, feature, &value), ACL_SUCCESS);
    EXPECT_TRUE(value == ACL_DEV_FEATURE_SUPPORT || value == ACL_DEV_FEATURE_NOT_SUPPORT) << value;
  }
}

TEST_F(DeviceCapability, NullOrBadIdFails) {
  int32_t value = -7;
  auto feature = ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV;
  EXPECT_EQ(aclrtGetDeviceCapability(0, feature, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(aclrtGetDeviceCapability(PastLast(), feature, &value), ACL_SUCCESS);
  EXPECT_EQ(value, -7);
}

TEST_F(DeviceCapability, OldFormAnswers100000ForEverything) {
  int64_t value = -7;
  auto past_last = static_cast<uint32_t>(PastLast());
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(past_last, ACL_DEVICE_INFO_AI_CORE_NUM, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(99), &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, -7);
  for (auto info : {ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_DEVICE_INFO_L2_SIZE}) {
    EXPECT_EQ(aclGetDeviceCapability(0, info, &value), ACL_SUCCESS) << info;
    EXPECT_GT(value, 0) << info;
  }
}

using DeviceUtilization = DeviceTest;

TEST_F(DeviceUtilization, NullOrExtendedStructIsRejected) {
  aclrtUtilizationInfo info{};
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, nullptr), ACL_ERROR_INVALID_PARAM);
  info.utilizationExtend = reinterpret_cast<aclrtUtilizationExtendInfo*>(&info);
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, &info), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceUtilization, UnknownDeviceYieldsMinusOneWithSuccess) {
  aclrtUtilizationInfo info{};
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(PastLast(), &info), ACL_SUCCESS);
  EXPECT_EQ(info.cubeUtilization, -1);
  EXPECT_EQ(info.vectorUtilization, -1);
  EXPECT_EQ(info.aicpuUtilization, -1);
  EXPECT_EQ(info.memoryUtilization, -1);
}

TEST_F(DeviceUtilization, MemoryIsAlwaysMinusOne) {
  aclrtUtilizationInfo info{};
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, &info), ACL_SUCCESS);
  EXPECT_EQ(info.memoryUtilization, -1);
}

using StreamPriorityRange = BareTest;

TEST_F(StreamPriorityRange, IsZeroToSevenAndNullsAreSkipped) {
  int32_t least = -1, greatest = -1;
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(&least, &greatest), ACL_SUCCESS);
  EXPECT_EQ(least, 7);
  EXPECT_EQ(greatest, 0);
  least = greatest = -1;
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(&least, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(nullptr, &greatest), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(least, 7);
  EXPECT_EQ(greatest, 0);
}

using DeviceMisc = DeviceTest;

TEST_F(DeviceMisc, TsDeviceTakesZeroAndOne) {
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AICORE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_RESERVED), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetTsDevice(static_cast<aclrtTsId>(-1)), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceMisc, UuidsDiffer) {
  aclrtUuid one{}, two{};
  EXPECT_EQ(aclrtDeviceGetUuid(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetUuid(0, &one), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceGetUuid(1, &two), ACL_SUCCESS);
  EXPECT_NE(std::memcmp(&one, &two, sizeof(one)), 0);
  aclrtUuid untouched = one;
  EXPECT_NE(aclrtDeviceGetUuid(PastLast(), &untouched), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(&one, &untouched, sizeof(one)), 0);
}

TEST_F(DeviceMisc, BareTgidIsTheProcessAndNeedsNoContext) {
  int32_t pid = -1;
  EXPECT_EQ(aclrtDeviceGetBareTgid(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([&] { return aclrtDeviceGetBareTgid(&pid); }), ACL_SUCCESS);
  EXPECT_EQ(pid, ::getpid());
}

TEST_F(DeviceMisc, L2FlushWantsItsReservedArgumentNull) {
  int something = 0;
  EXPECT_EQ(aclrtDeviceL2CacheFlush(&something), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceMisc, SatModeWantsAnOutput) { EXPECT_EQ(aclrtGetDeviceSatMode(nullptr), ACL_ERROR_INVALID_PARAM); }

using PciBusId = DeviceTest;

TEST_F(PciBusId, ChecksInOrder) {
  char text[13] = "untouched";
  ExpectAll({
      {"null", ACL_ERROR_INVALID_PARAM, [] { return aclrtDeviceGetPCIBusId(-1, nullptr, 12); }},
      {"short", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtDeviceGetPCIBusId(0, text, 12); }},
      {"negative id", ACL_ERROR_RT_INVALID_DEVICEID, [&] { return aclrtDeviceGetPCIBusId(-1, text, 13); }},
      {"by text, null text", ACL_ERROR_INVALID_PARAM,
       [] {
         int32_t device = 0;
         return aclrtDeviceGetByPCIBusId(nullptr, &device);
       }},
      {"by text, null output", ACL_ERROR_INVALID_PARAM, [&] { return aclrtDeviceGetByPCIBusId(text, nullptr); }},
  });
  EXPECT_STREQ(text, "untouched");
}

TEST_F(PciBusId, RoundTrip) {
  for (int32_t device : {0, 1}) {
    char text[13] = {};
    ASSERT_EQ(aclrtDeviceGetPCIBusId(device, text, sizeof(text)), ACL_SUCCESS);
    unsigned domain, bus, slot, function;
    EXPECT_EQ(std::strlen(text), 12u);
    EXPECT_EQ(std::sscanf(text, "%4x:%2x:%2x.%1x", &domain, &bus, &slot, &function), 4) << text;
    int32_t found = -1;
    EXPECT_EQ(aclrtDeviceGetByPCIBusId(text, &found), ACL_SUCCESS);
    EXPECT_EQ(found, device);
  }
}

TEST_F(PciBusId, UnknownTextIsRefusedAndTheOutputStays) {
  int32_t found = -7;
  EXPECT_NE(aclrtDeviceGetByPCIBusId("nonsense", &found), ACL_SUCCESS);
  EXPECT_NE(aclrtDeviceGetByPCIBusId("ffff:ff:1f.7", &found), ACL_SUCCESS);
  EXPECT_EQ(found, -7);
}

using DeviceLimit = BareTest;

TEST_F(DeviceLimit, BadKindOrValueIsRejected) {
  size_t value = 77;
  for (int kind : {-1, 5, 1000}) {
    EXPECT_EQ(aclrtDeviceSetLimit(static_cast<aclrtDeviceLimit>(kind), 65536), ACL_ERROR_INVALID_PARAM) << kind;
    EXPECT_EQ(aclrtDeviceGetLimit(static_cast<aclrtDeviceLimit>(kind), &value), ACL_ERROR_INVALID_PARAM) << kind;
  }
  EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, size_t{1} << 32), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, 77u);
}

TEST_F(DeviceLimit, GetReturnsTheLastValueSet) {
  size_t before = 0, value = 0;
  ASSERT_EQ(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &before), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 65536), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 65536u);
  EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, before), ACL_SUCCESS);
}

TEST_F(DeviceLimit, KindOfAnotherProductIsNotSupported) {
  EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 1024), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

using DeviceTopology = BareTest;

TEST_F(DeviceTopology, IsExactlyOneBit) {
  uint64_t value = 0;
  EXPECT_EQ(aclrtGetDevicesTopo(0, 1, nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtGetDevicesTopo(0, 1, &value), ACL_SUCCESS);
  EXPECT_NE(value, 0u);
  EXPECT_EQ(value & (value - 1), 0u) << value;
  EXPECT_LE(value, ACL_RT_DEVS_TOPOLOGY_HCCS_SW);
}

TEST_F(DeviceTopology, UnknownDeviceIsRefusedAndTheOutputStays) {
  uint64_t value = 77;
  EXPECT_NE(aclrtGetDevicesTopo(0, static_cast<uint32_t>(PastLast()), &value), ACL_SUCCESS);
  EXPECT_EQ(value, 77u);
}

using DeviceAtomics = DeviceTest;

TEST_F(DeviceAtomics, OperationOutsideTheEnumIsRejected) {
  for (int number : {45, 63}) {
    const auto operation = static_cast<aclrtAtomicOperation>(number);
    uint32_t capability = 77;
    EXPECT_EQ(aclrtDeviceGetHostAtomicCapabilities(&capability, &operation, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(capability, 77u);
  }
}

}  // namespace device_queries_test
}  // namespace ropeway_test
