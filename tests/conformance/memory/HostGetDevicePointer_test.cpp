// aclrtHostGetDevicePointer: the device alias of mapped host memory.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace host_get_device_pointer_test {

using HostGetDevicePointer = DeviceTest;

struct Args : CallArgs {
  void* host;
  bool null_output = false;
  uint32_t flag = 0;
};

TEST_F(HostGetDevicePointer, EarlierCheckWins) {
  std::vector<uint8_t> mapped(4096);
  std::vector<uint8_t> plain(64);
  int mark = 0;
  void* out = &mark;
  ASSERT_EQ(aclrtHostRegisterV2(mapped.data(), mapped.size(), ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  Args valid;
  valid.host = mapped.data();
  const std::vector<Check<Args>> checks = {
      {"pHost NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.host = nullptr; }},
      {"pDevice NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"flag 1", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.flag = 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"not registered", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.host = plain.data(); }},
  };
  auto call = [&](const Args& a) { return aclrtHostGetDevicePointer(a.host, a.null_output ? nullptr : &out, a.flag); };
  ExpectCheckOrder("aclrtHostGetDevicePointer", valid, checks, call, [&] { EXPECT_EQ(out, &mark); });
  EXPECT_NE(out, &mark);
  EXPECT_EQ(aclrtHostUnregister(mapped.data()), ACL_SUCCESS);
}

TEST_F(HostGetDevicePointer, AgreesWithHostRegisterAndResolvesInteriorAddresses) {
  std::vector<uint8_t> host(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data(), host.size(), ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  for (size_t offset : {0, 1, 64, 4095}) {
    void* out = nullptr;
    EXPECT_EQ(aclrtHostGetDevicePointer(host.data() + offset, &out, 0), ACL_SUCCESS);
    EXPECT_EQ(out, static_cast<char*>(alias) + offset);
  }
  void* out = nullptr;
  EXPECT_EQ(aclrtHostGetDevicePointer(host.data() + 4096, &out, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

TEST_F(HostGetDevicePointer, WantsAMappedRegistration) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  std::vector<uint8_t> host(4096);
  void* out = nullptr;
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  for (void* wrong : {static_cast<void*>(host.data()), static_cast<void*>(pinned.get()), device.get()}) {
    EXPECT_EQ(aclrtHostGetDevicePointer(wrong, &out, 0), ACL_ERROR_RT_PARAM_INVALID);
  }
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

TEST_F(HostGetDevicePointer, PinnedBlockHasAnAliasOnceItIsMapped) {
  PinnedBuffer pinned(4096);
  void* alias = nullptr;
  void* out = nullptr;
  ASSERT_EQ(aclrtHostRegister(pinned.get(), 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostGetDevicePointer(pinned.get(), &out, 0), ACL_SUCCESS);
  EXPECT_EQ(out, alias);
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), ACL_SUCCESS);
}

#ifndef ROPEWAY_TEST_VENDOR
TEST_F(HostGetDevicePointer, TheViewOfAnAliasIsTheHostMemory) {
  std::vector<uint8_t> host(10000);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data() + 5, 9000, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  for (size_t offset : {0, 1, 4096, 8999}) {
    void* view = nullptr;
    EXPECT_EQ(ropewayHostView(static_cast<char*>(alias) + offset, 9000 - offset, &view), ACL_SUCCESS);
    EXPECT_EQ(view, host.data() + 5 + offset);
    ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"ropewayHostView", "devPtr", std::to_string(9001 - offset)},
               [&] { return ropewayHostView(static_cast<char*>(alias) + offset, 9001 - offset, &view); });
  }
  EXPECT_EQ(aclrtHostUnregister(host.data() + 5), ACL_SUCCESS);
  void* view = &view;
  EXPECT_EQ(ropewayHostView(alias, 1, &view), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(view, &view);
}

TEST_F(HostGetDevicePointer, AFreedBlockHasNoViewOfItsAlias) {
  void* pinned = nullptr;
  void* alias = nullptr;
  void* view = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 4096), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostRegister(pinned, 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_EQ(ropewayHostView(alias, 4096, &view), ACL_SUCCESS);
  EXPECT_EQ(view, pinned);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(ropewayHostView(alias, 4096, &view), ACL_ERROR_RT_PARAM_INVALID);
}
#endif

TEST_F(HostGetDevicePointer, ACopyWithAnAliasIsToldWhatItIs) {
  std::vector<uint8_t> host(4096);
  DeviceBuffer device(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data(), host.size(), ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  char address[32];
  std::snprintf(address, sizeof(address), "%p", static_cast<void*>(host.data()));
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpy", "alias", address},
             [&] { return aclrtMemcpy(device.get(), 4096, alias, 4096, ACL_MEMCPY_HOST_TO_DEVICE); });
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

TEST_F(HostGetDevicePointer, TextNamesCallArgumentAndValue) {
  int word = 0;
  void* out = nullptr;
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostGetDevicePointer", "pHost"}, [&] { return aclrtHostGetDevicePointer(nullptr, &out, 0); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostGetDevicePointer", "flag", "77"},
             [&] { return aclrtHostGetDevicePointer(&word, &out, 77); });
}

}  // namespace host_get_device_pointer_test
}  // namespace ropeway_test::bytes
