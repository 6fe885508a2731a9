// aclrtMallocHost and aclrtMallocHostWithCfg: pinned host memory.
#include <random>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace malloc_host_test {

// aclrtMallocHostWithCfg without attributes is aclrtMallocHost.
class MallocHost : public StreamTest, public ::testing::WithParamInterface<bool> {
 protected:
  static const char* Name() { return GetParam() ? "aclrtMallocHostWithCfg" : "aclrtMallocHost"; }
  static aclError Allocate(void** out, size_t size) {
    return GetParam() ? aclrtMallocHostWithCfg(out, size, nullptr) : aclrtMallocHost(out, size);
  }
};

INSTANTIATE_TEST_SUITE_P(Memory, MallocHost, ::testing::Bool(), [](const auto& tested) { return tested.param ? "WithCfg" : "Plain"; });

struct Args : CallArgs {
  bool null_output = false;
  size_t size = 100;
};

TEST_P(MallocHost, EarlierCheckWins) {
  int mark = 0;
  void* out = &mark;
  const std::vector<Check<Args>> checks = {
      {"hostPtr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = 0; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"out of memory", ACL_ERROR_RT_MEMORY_ALLOCATION, [](Args& a) { a.size = SIZE_MAX / 2; }},
  };
  auto call = [&](const Args& a) { return Allocate(a.null_output ? nullptr : &out, a.size); };
  ExpectCheckOrder(Name(), Args{}, checks, call, [&] { EXPECT_EQ(out, &mark) << "a failed call wrote hostPtr"; });
  EXPECT_NE(out, &mark);
  EXPECT_EQ(aclrtFreeHost(out), ACL_SUCCESS);
}

TEST_P(MallocHost, SizesNearTheLimitAreOutOfMemory) {
  void* out = nullptr;
  for (size_t size : {SIZE_MAX / 2, SIZE_MAX - kGiB, SIZE_MAX - 63, SIZE_MAX - 32, SIZE_MAX - 31, SIZE_MAX - 30, SIZE_MAX}) {
    EXPECT_EQ(Allocate(&out, size), ACL_ERROR_RT_MEMORY_ALLOCATION) << size;
  }
  EXPECT_EQ(out, nullptr);
}

TEST_P(MallocHost, AddressesAreAlignedAndTheProgramMayUseEveryByte) {
  for (size_t size : {size_t{1}, size_t{32}, size_t{33}, size_t{4096}, 3 * kMiB + 1}) {
    void* out = nullptr;
    ASSERT_EQ(Allocate(&out, size), ACL_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out) % 64, 0u) << size;
    const auto bytes = Pattern((size + 31) / 32 * 32, 1);
    std::memcpy(out, bytes.data(), bytes.size());
    EXPECT_TRUE(BytesAt(out, bytes.size()) == bytes);
    EXPECT_EQ(aclrtFreeHost(out), ACL_SUCCESS);
  }
}

TEST_P(MallocHost, TakesNothingFromTheDevice) {
  const size_t at_start = FreeDeviceBytes();
  void* out = nullptr;
  ASSERT_EQ(Allocate(&out, 1 * kMiB), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), at_start);
  EXPECT_EQ(aclrtFreeHost(out), ACL_SUCCESS);
}

TEST_P(MallocHost, IsPinnedForEveryContext) {
  void* pinned = nullptr;
  ASSERT_EQ(Allocate(&pinned, 256), ACL_SUCCESS);
  std::memcpy(pinned, Pattern(256, 2).data(), 256);
  DeviceBuffer device(256);
  ForeignStream other;
  OnFreshThread([&] {
    ASSERT_EQ(aclrtSetCurrentContext(other.context()), ACL_SUCCESS);
    // Device-to-host as the kind is forgiven between pinned and device memory only.
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), 256, pinned, 256, ACL_MEMCPY_DEVICE_TO_HOST, other.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  });
  EXPECT_EQ(device.Read(256), Pattern(256, 2));
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_P(MallocHost, TextNamesCallArgumentAndValue) {
  void* out = nullptr;
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), GetParam() ? "ptr" : "hostPtr"}, [] { return Allocate(nullptr, 64); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), "size"}, [&] { return Allocate(&out, 0); });
}

TEST_P(MallocHost, ManyThreads) {
  OnDeviceThreads(16, [&](int thread) {
    std::mt19937 random(80 + static_cast<uint32_t>(thread));
    std::vector<std::pair<void*, size_t>> mine;
    for (int i = 0; i < 200; ++i) {
      if (!mine.empty() && random() % 3 == 0) {
        auto [block, size] = mine.back();
        mine.pop_back();
        EXPECT_EQ(BytesAt(block, size), std::vector<uint8_t>(size, static_cast<uint8_t>(thread)));
        ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
        continue;
      }
      void* block = nullptr;
      const size_t size = 1 + random() % 5000;
      ASSERT_EQ(Allocate(&block, size), ACL_SUCCESS);
      std::memset(block, thread, size);
      mine.emplace_back(block, size);
    }
    for (auto [block, size] : mine) ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  });
}

using MallocHostWithCfg = DeviceTest;

struct CfgArgs : CallArgs {
  bool null_output = false;
  uint64_t size = 100;
  aclrtMallocConfig cfg = {nullptr, 0};
};

TEST_F(MallocHostWithCfg, EarlierCheckWins) {
  int mark = 0;
  void* out = &mark;
  aclrtMallocAttribute module = {};
  module.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  module.value.moduleId = 33;
  aclrtMallocAttribute device = {};
  device.attr = ACL_RT_MEM_ATTR_DEVICE_ID;
  CfgArgs valid;
  valid.cfg = {&module, 1};
  const std::vector<Check<CfgArgs>> checks = {
      {"ptr NULL", ACL_ERROR_INVALID_PARAM, [](CfgArgs& a) { a.null_output = true; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](CfgArgs& a) { a.size = 0; }},
      {"attrs NULL", ACL_ERROR_RT_PARAM_INVALID,
       [](CfgArgs& a) {
         a.cfg = {nullptr, 0};
       }},
      {"device attribute", ACL_ERROR_RT_PARAM_INVALID,
       [&](CfgArgs& a) {
         a.cfg = {&device, 1};
       }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](CfgArgs& a) { a.without_context = true; }},
      {"out of memory", ACL_ERROR_RT_MEMORY_ALLOCATION, [](CfgArgs& a) { a.size = UINT64_MAX / 2; }},
  };
  auto call = [&](const CfgArgs& a) {
    aclrtMallocConfig cfg = a.cfg;
    return aclrtMallocHostWithCfg(a.null_output ? nullptr : &out, a.size, &cfg);
  };
  ExpectCheckOrder("aclrtMallocHostWithCfg", valid, checks, call, [&] { EXPECT_EQ(out, &mark); });
  EXPECT_EQ(aclrtFreeHost(out), ACL_SUCCESS);
}

TEST_F(MallocHostWithCfg, OnlyModuleIdAndVaFlagAreKnown) {
  for (int type : {-1, 0, 1, 2, 3, 4, 99}) {
    aclrtMallocAttribute attribute = {};
    attribute.attr = static_cast<aclrtMallocAttrType>(type);
    aclrtMallocConfig cfg = {&attribute, 1};
    const bool known = type == ACL_RT_MEM_ATTR_MODULE_ID || type == ACL_RT_MEM_ATTR_VA_FLAG;
    void* out = nullptr;
    EXPECT_EQ(aclrtMallocHostWithCfg(&out, 64, &cfg), known ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID) << "type " << type;
    EXPECT_EQ(out != nullptr, known);
    if (out != nullptr) EXPECT_EQ(aclrtFreeHost(out), ACL_SUCCESS);
  }
}

TEST_F(MallocHostWithCfg, AttrsNullIsRejectedWhateverTheirNumber) {
  void* out = nullptr;
  for (size_t count : {0, 1, 5}) {
    aclrtMallocConfig cfg = {nullptr, count};
    EXPECT_EQ(aclrtMallocHostWithCfg(&out, 64, &cfg), ACL_ERROR_RT_PARAM_INVALID) << count;
  }
  EXPECT_EQ(out, nullptr);
}

// vaFlag 1 asks for one address on host and device: granted, or refused as unsupported.
TEST_F(MallocHostWithCfg, VaFlagIsGrantedOrUnsupported) {
  aclrtMallocAttribute attribute = {};
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig cfg = {&attribute, 1};
  void* out = nullptr;
  const aclError code = aclrtMallocHostWithCfg(&out, 4096, &cfg);
  if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    EXPECT_EQ(out, nullptr);
    return;
  }
  ASSERT_EQ(code, ACL_SUCCESS);
  void* alias = nullptr;
  EXPECT_EQ(aclrtHostRegister(out, 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_EQ(alias, out);
  EXPECT_EQ(aclrtFreeHost(out), ACL_SUCCESS);
}

}  // namespace malloc_host_test
}  // namespace ropeway_test::bytes
