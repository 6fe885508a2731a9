// aclrtCheckMemType: does every address of a list have one of the given types.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace check_mem_type_test {

using CheckMemType = DeviceTest;

struct Args : CallArgs {
  void** list;
  uint32_t size = 1;
  uint32_t type = ACL_RT_MEM_TYPE_DEV;
  bool null_output = false;
  uint32_t reserve = 0;
};

TEST_F(CheckMemType, EarlierCheckWins) {
  DeviceBuffer device(64);
  void* addresses[] = {device.get()};
  uint32_t result = 77;
  Args valid;
  valid.list = addresses;
  const std::vector<Check<Args>> checks = {
      {"addrList NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.list = nullptr; }},
      {"checkResult NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"reserve 1", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.reserve = 1; }},
      {"size 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.size = 0; }},
      {"unknown type", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.type = 0x80000000u; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
  };
  auto call = [&](const Args& a) { return aclrtCheckMemType(a.list, a.size, a.type, a.null_output ? nullptr : &result, a.reserve); };
  ExpectCheckOrder("aclrtCheckMemType", valid, checks, call, [] {});
  EXPECT_EQ(result, 1u);
}

TEST_F(CheckMemType, ResultIsZeroedOnceThePointersAreGood) {
  DeviceBuffer device(64);
  void* addresses[] = {device.get()};
  uint32_t result = 77;
  EXPECT_EQ(aclrtCheckMemType(nullptr, 1, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(result, 77u);
  EXPECT_EQ(aclrtCheckMemType(addresses, 1, ACL_RT_MEM_TYPE_DEV, &result, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(result, 0u);
}

TEST_F(CheckMemType, TypeBits) {
  DeviceBuffer device(64);
  void* addresses[] = {device.get()};
  uint32_t result = 0;
  for (uint32_t type : {0x1u, 0x4u, 0x40u, 0x3u, 0x80000002u}) {
    EXPECT_EQ(aclrtCheckMemType(addresses, 1, type, &result, 0), ACL_ERROR_RT_PARAM_INVALID) << type;
  }
  constexpr uint32_t kAll = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
  EXPECT_EQ(aclrtCheckMemType(addresses, 1, ACL_RT_MEM_TYPE_RSVD, &result, 0), ACL_SUCCESS) << "0x10 is accepted";
  EXPECT_EQ(aclrtCheckMemType(addresses, 1, kAll, &result, 0), ACL_SUCCESS);
  EXPECT_EQ(result, 1u);
}

TEST_F(CheckMemType, EveryAddressMustFit) {
  DeviceBuffer device(4096);
  DeviceBuffer other(64);
  PinnedBuffer pinned(64);
  int word = 0;
  const struct {
    const char* what;
    std::vector<void*> list;
    uint32_t expected;
  } rows[] = {
      {"device", {device.get()}, 1},
      {"inside a block", {device.at(100), device.get(), other.get()}, 1},
      {"pageable", {&word}, 0},
      {"pinned", {pinned.get()}, 0},
      {"device, then pageable", {device.get(), &word}, 0},
      {"pageable, then device", {&word, device.get()}, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    auto list = row.list;
    uint32_t result = 77;
    EXPECT_EQ(aclrtCheckMemType(list.data(), static_cast<uint32_t>(list.size()), ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_SUCCESS);
    EXPECT_EQ(result, row.expected);
  }
}

}  // namespace check_mem_type_test
}  // namespace ropeway_test::bytes
