// aclrtMallocWithCfg and aclrtMallocForTaskScheduler: allocation with a list of attributes, without padding.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace malloc_with_cfg_test {

struct Variant {
  const char* name;
  decltype(&aclrtMallocWithCfg) allocate;
};

class MallocWithCfg : public DeviceTest, public ::testing::WithParamInterface<Variant> {
 protected:
  static aclError Allocate(void** out, size_t size, aclrtMallocConfig* cfg, int policy = ACL_MEM_MALLOC_HUGE_FIRST) {
    return GetParam().allocate(out, size, static_cast<aclrtMemMallocPolicy>(policy), cfg);
  }
};

INSTANTIATE_TEST_SUITE_P(Memory, MallocWithCfg,
                         ::testing::Values(Variant{"aclrtMallocWithCfg", &aclrtMallocWithCfg},
                                           Variant{"aclrtMallocForTaskScheduler", &aclrtMallocForTaskScheduler}),
                         [](const auto& tested) { return std::string(tested.param.name); });

aclrtMallocAttribute Attribute(int type, uint32_t value) {
  aclrtMallocAttribute attribute = {};
  attribute.attr = static_cast<aclrtMallocAttrType>(type);
  if (type == ACL_RT_MEM_ATTR_MODULE_ID) {
    attribute.value.moduleId = static_cast<uint16_t>(value);
  } else {
    attribute.value.deviceId = value;
  }
  return attribute;
}

struct Args : CallArgs {
  bool null_output = false;
  size_t size = 100;
  aclrtMallocConfig cfg = {nullptr, 0};
};

TEST_P(MallocWithCfg, EarlierCheckWins) {
  int mark = 0;
  void* out = &mark;
  aclrtMallocAttribute good = Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33);
  aclrtMallocAttribute unknown = Attribute(ACL_RT_MEM_ATTR_VA_FLAG, 0);
  Args valid;
  valid.cfg = {&good, 1};
  const std::vector<Check<Args>> checks = {
      {"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"attrs NULL, numAttrs 1", ACL_ERROR_INVALID_PARAM,
       [](Args& a) {
         a.cfg = {nullptr, 1};
       }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = 0; }},
      {"attrs NULL, numAttrs 0", ACL_ERROR_RT_PARAM_INVALID,
       [](Args& a) {
         a.cfg = {nullptr, 0};
       }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"unknown attribute", ACL_ERROR_RT_PARAM_INVALID,
       [&](Args& a) {
         a.cfg = {&unknown, 1};
       }},
      {"out of memory", ACL_ERROR_RT_MEMORY_ALLOCATION, [](Args& a) { a.size = SIZE_MAX / 2; }},
  };
  auto call = [&](const Args& a) {
    aclrtMallocConfig cfg = a.cfg;
    return Allocate(a.null_output ? nullptr : &out, a.size, &cfg);
  };
  ExpectCheckOrder(GetParam().name, valid, checks, call, [&] { EXPECT_EQ(out, &mark) << "a failed call wrote devPtr"; });
  EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
}

TEST_P(MallocWithCfg, ReservesWithoutPadding) {
  const size_t at_start = FreeDeviceBytes();
  for (size_t size : {size_t{1}, size_t{32}, size_t{33}, 3 * kMiB + 1}) {
    void* out = nullptr;
    ASSERT_EQ(Allocate(&out, size, nullptr), ACL_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out) % 512, 0u);
    EXPECT_EQ(at_start - FreeDeviceBytes(), (size + 31) / 32 * 32);
    ASSERT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
  EXPECT_EQ(FreeDeviceBytes(), at_start);
}

TEST_P(MallocWithCfg, SizeThatWrapsFails) {
  void* out = nullptr;
  for (size_t size : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 31, SIZE_MAX - 32}) {
    EXPECT_NE(Allocate(&out, size, nullptr), ACL_SUCCESS) << size;
  }
  EXPECT_EQ(out, nullptr);
}

TEST_P(MallocWithCfg, AttributesAreJudgedOneByOne) {
  struct Row {
    const char* what;
    std::vector<aclrtMallocAttribute> attributes;
    aclError code;
  };
  const auto rsv = Attribute(ACL_RT_MEM_ATTR_RSV, 0);
  const auto module = Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33);
  const auto high_module = Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 65535);
  const auto this_device = Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0);
  const auto other_device = Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 1);
  const auto no_device = Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, UINT32_MAX);
  const auto va_flag = Attribute(ACL_RT_MEM_ATTR_VA_FLAG, 0);
  const auto unknown = Attribute(4, 0);
  const auto negative = Attribute(-1, 0);
  const Row rows[] = {
      {"reserved", {rsv}, ACL_SUCCESS},
      {"module", {module}, ACL_SUCCESS},
      {"module above the known range", {high_module}, ACL_SUCCESS},
      {"current device", {this_device}, ACL_SUCCESS},
      {"all known", {rsv, module, this_device}, ACL_SUCCESS},
      {"other device", {other_device}, ACL_ERROR_RT_PARAM_INVALID},
      {"no device", {no_device}, ACL_ERROR_RT_PARAM_INVALID},
      {"VA flag", {va_flag}, ACL_ERROR_RT_PARAM_INVALID},
      {"unknown", {unknown}, ACL_ERROR_RT_PARAM_INVALID},
      {"negative", {negative}, ACL_ERROR_RT_PARAM_INVALID},
      {"unknown behind known", {module, this_device, unknown}, ACL_ERROR_RT_PARAM_INVALID},
      {"repeated device, last is right", {other_device, this_device}, ACL_SUCCESS},
      {"repeated device, last is wrong", {this_device, other_device}, ACL_ERROR_RT_PARAM_INVALID},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    auto attributes = row.attributes;
    aclrtMallocConfig cfg = {attributes.data(), attributes.size()};
    void* out = nullptr;
    EXPECT_EQ(Allocate(&out, 64, &cfg), row.code);
    EXPECT_EQ(out != nullptr, row.code == ACL_SUCCESS);
    if (out != nullptr) EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

TEST_P(MallocWithCfg, PoliciesMayBeCombined) {
  for (int policy : {0, 1, 2, 3, 4, 5, 0x100, 0x1000, 0x100 | 1, 0x1000 | 2, 0x100000 | 1, 99}) {
    void* out = nullptr;
    ASSERT_EQ(Allocate(&out, 64, nullptr, policy), ACL_SUCCESS) << "policy " << policy;
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

TEST_P(MallocWithCfg, TextNamesCallAndArgument) {
  void* out = nullptr;
  const std::string name = GetParam().name;
  aclrtMallocAttribute unknown = Attribute(77, 0);
  aclrtMallocConfig cfg = {&unknown, 1};
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "devPtr"}, [] { return Allocate(nullptr, 64, nullptr); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "size"}, [&] { return Allocate(&out, 0, nullptr); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {name, "attr", "77"}, [&] { return Allocate(&out, 64, &cfg); });
}

}  // namespace malloc_with_cfg_test
}  // namespace ropeway_test::bytes
