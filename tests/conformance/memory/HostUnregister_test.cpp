// aclrtHostUnregister: ends a registration by its exact start.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace host_unregister_test {

using HostUnregister = StreamTest;

struct Args : CallArgs {
  void* ptr;
};

TEST_F(HostUnregister, EarlierCheckWins) {
  std::vector<uint8_t> host(4096);
  std::vector<uint8_t> other(64);
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  Args valid;
  valid.ptr = host.data();
  const std::vector<Check<Args>> checks = {
      {"ptr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.ptr = nullptr; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"not registered", ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, [&](Args& a) { a.ptr = other.data(); }},
  };
  auto call = [](const Args& a) { return aclrtHostUnregister(a.ptr); };
  ExpectCheckOrder("aclrtHostUnregister", valid, checks, call, [&] {
    aclrtPtrAttributes attributes = {};
    EXPECT_EQ(aclrtPointerGetAttributes(host.data(), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  });
}

TEST_F(HostUnregister, OnlyTheStartOfARegistrationIsAccepted) {
  DeviceBuffer device(4096);
  PinnedBuffer pinned(4096);
  std::vector<uint8_t> host(8192);
  ASSERT_EQ(aclrtHostRegisterV2(host.data() + 100, 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  for (void* wrong : {static_cast<void*>(host.data()), static_cast<void*>(host.data() + 99), static_cast<void*>(host.data() + 101),
                      static_cast<void*>(host.data() + 4196), static_cast<void*>(pinned.get()), device.get()}) {
    EXPECT_EQ(aclrtHostUnregister(wrong), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  }
  EXPECT_EQ(aclrtHostUnregister(host.data() + 100), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(host.data() + 100), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED) << "second time";
}

TEST_F(HostUnregister, EndsMappedAndPinnedAtOnce) {
  std::vector<uint8_t> host(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED | ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostGetDevicePointer(host.data(), &alias, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostGetDevicePointer(host.data(), &alias, 0), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes attributes = {};
  EXPECT_EQ(aclrtPointerGetAttributes(host.data(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

TEST_F(HostUnregister, WorksFromAnotherContext) {
  std::vector<uint8_t> host(4096);
  ForeignStream other;
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  OnFreshThread([&] {
    ASSERT_EQ(aclrtSetCurrentContext(other.context()), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  });
}

TEST_F(HostUnregister, TextNamesCallAndArgument) {
  int word = 0;
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostUnregister", "ptr"}, [] { return aclrtHostUnregister(nullptr); });
  ExpectText(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, {"aclrtHostUnregister", "ptr"}, [&] { return aclrtHostUnregister(&word); });
}

}  // namespace host_unregister_test
}  // namespace ropeway_test::bytes
