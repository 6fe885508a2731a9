// aclrtHostRegister: host memory that the device can address.
#include <algorithm>

#include "tests/conformance/copy/host_pages.h"

namespace ropeway_test::bytes {
namespace host_register_test {

using HostRegister = StreamTest;

struct Args : CallArgs {
  void* ptr;
  uint64_t size = 4096;
  int type = ACL_HOST_REGISTER_MAPPED;
  bool null_output = false;
};

TEST_F(HostRegister, EarlierCheckWins) {
  std::vector<uint8_t> taken(4096);
  std::vector<uint8_t> host(4096);
  int mark = 0;
  void* alias = &mark;
  ASSERT_EQ(aclrtHostRegisterV2(taken.data(), taken.size(), ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  Args valid;
  valid.ptr = host.data();
  const std::vector<Check<Args>> checks = {
      {"ptr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.ptr = nullptr; }},
      {"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = 0; }},
      {"type 1", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.type = 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"registered already", ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, [&](Args& a) { a.ptr = taken.data(); }},
  };
  auto call = [&](const Args& a) {
    return aclrtHostRegister(a.ptr, a.size, static_cast<aclrtHostRegisterType>(a.type), a.null_output ? nullptr : &alias);
  };
  ExpectCheckOrder("aclrtHostRegister", valid, checks, call, [&] { EXPECT_EQ(alias, &mark) << "a failed call wrote devPtr"; });
  EXPECT_NE(alias, &mark);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(taken.data()), ACL_SUCCESS);
}

TEST_F(HostRegister, TypesOutsideTheTwoBitsAreUnsupported) {
  std::vector<uint8_t> host(4096);
  for (int type : {1, 2, 3, 16, 0x10000000, -1}) {
    void* alias = nullptr;
    EXPECT_EQ(aclrtHostRegister(host.data(), 4096, static_cast<aclrtHostRegisterType>(type), &alias), ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
        << "type " << type;
  }
  for (int type : {0, 4, 8, 12}) {
    void* alias = nullptr;
    EXPECT_EQ(aclrtHostRegister(host.data(), 4096, static_cast<aclrtHostRegisterType>(type), &alias), ACL_SUCCESS) << "type " << type;
    EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  }
}

TEST_F(HostRegister, OverlapInAnyFormIsRejected) {
  std::vector<uint8_t> host(16 * kKiB);
  void* alias = nullptr;
  auto enroll = [&](size_t first, size_t size) { return aclrtHostRegister(host.data() + first, size, ACL_HOST_REGISTER_MAPPED, &alias); };
  ASSERT_EQ(enroll(4000, 1000), ACL_SUCCESS);
  const struct {
    const char* what;
    size_t first;
    size_t size;
  } overlaps[] = {{"the same", 4000, 1000},  {"inside", 4100, 100},       {"around", 3000, 4000}, {"over the start", 3999, 2},
                  {"over the end", 4999, 2}, {"from the start", 4000, 1}, {"to the end", 4999, 1}};
  for (const auto& row : overlaps) {
    EXPECT_EQ(enroll(row.first, row.size), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED) << row.what;
    EXPECT_EQ(aclrtHostRegisterV2(host.data() + row.first, row.size, ACL_HOST_REG_PINNED), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        << row.what;
  }
  EXPECT_EQ(enroll(3000, 1000), ACL_SUCCESS) << "ends where the other begins";
  EXPECT_EQ(enroll(5000, 1), ACL_SUCCESS) << "begins where the other ends";
  for (size_t first : {3000, 4000, 5000}) EXPECT_EQ(aclrtHostUnregister(host.data() + first), ACL_SUCCESS);
  EXPECT_EQ(enroll(3000, 4000), ACL_SUCCESS) << "everything was given back";
  EXPECT_EQ(aclrtHostUnregister(host.data() + 3000), ACL_SUCCESS);
}

TEST_F(HostRegister, SizeThatWrapsIsRejected) {
  std::vector<uint8_t> host(64);
  int mark = 0;
  void* alias = &mark;
  EXPECT_NE(aclrtHostRegister(host.data(), UINT64_MAX, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_NE(aclrtHostRegister(host.data(), UINT64_MAX - 63, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_EQ(alias, &mark);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(HostRegister, DeviceMemoryIsRejected) {
  DeviceBuffer device(4096);
  void* alias = nullptr;
  EXPECT_EQ(aclrtHostRegister(device.get(), 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(HostRegister, PinnedMemoryIsAccepted) {
  PinnedBuffer pinned(4096);
  void* alias = nullptr;
  EXPECT_EQ(aclrtHostRegister(pinned.get(), 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), ACL_SUCCESS);
  aclrtPtrAttributes attributes = {};
  EXPECT_EQ(aclrtPointerGetAttributes(pinned.get(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST) << "it is still an aclrtMallocHost block";
}

TEST_F(HostRegister, MemoryBecomesPinnedAndCopiesAsynchronous) {
  DeviceBuffer device(1000);
  std::vector<uint8_t> host = Pattern(1000, 1);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data() + 1, 998, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS) << "any address and size";
  device.Write(Pattern(1000, 2));
  {
    HeldStream held(stream_);
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), 998, host.data() + 1, 998, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    EXPECT_EQ(device.Read(1000), Pattern(1000, 2));
    EXPECT_EQ(held.Release(), ACL_SUCCESS);
  }
  EXPECT_EQ(device.Read(998), BytesAt(host.data() + 1, 998));
  EXPECT_EQ(aclrtHostUnregister(host.data() + 1), ACL_SUCCESS);
}

// rules/host-memory.md 2: the alias is for device code only.
TEST_F(HostRegister, AliasIsNoAddressForCopiesAndQueries) {
  DeviceBuffer device(64);
  std::vector<uint8_t> host(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data(), 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  ASSERT_NE(alias, nullptr);
  aclrtPtrAttributes attributes = {};
  void* base = nullptr;
  EXPECT_EQ(aclrtPointerGetAttributes(alias, &attributes), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemGetAddressRange(alias, &base, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device.get(), 64, alias, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(alias, 64, device.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(alias), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

TEST_F(HostRegister, SurvivesTheClosingOfTheDevice) {
  std::vector<uint8_t> host(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data(), 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  aclrtPtrAttributes attributes = {};
  EXPECT_EQ(aclrtPointerGetAttributes(host.data(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

TEST_F(HostRegister, TextNamesCallArgumentAndValue) {
  std::vector<uint8_t> host(64);
  void* alias = nullptr;
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostRegister", "ptr"},
             [&] { return aclrtHostRegister(nullptr, 64, ACL_HOST_REGISTER_MAPPED, &alias); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostRegister", "devPtr"},
             [&] { return aclrtHostRegister(host.data(), 64, ACL_HOST_REGISTER_MAPPED, nullptr); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostRegister", "size"},
             [&] { return aclrtHostRegister(host.data(), 0, ACL_HOST_REGISTER_MAPPED, &alias); });
}

// Both calls, for the whole range: small ones are touched, of large ones the system is asked.
TEST_F(HostRegister, MemoryThatIsNotThereIsRefused) {
  for (size_t size : {3 * kPage, 4 * kMiB}) {
    const auto expect = [&](void* ptr, const void* bad) {
      int mark = 0;
      void* alias = &mark;
      ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtHostRegister", "ptr", Show(ptr), Show(bad)},
                 [&] { return aclrtHostRegister(ptr, size, ACL_HOST_REGISTER_MAPPED, &alias); });
      EXPECT_EQ(alias, &mark);
      ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtHostRegisterV2", "ptr", Show(ptr), Show(bad)},
                 [&] { return aclrtHostRegisterV2(ptr, size, ACL_HOST_REG_PINNED); });
    };
    HostPages host(size + kPage);
    for (size_t bad : {size_t{0}, size / 2 / kPage * kPage, size - kPage}) {
      for (int protection : {PROT_NONE, PROT_READ}) {
        host.Protect(bad, protection);
        expect(host.at(0), host.at(bad));
      }
      host.Protect(bad, PROT_READ | PROT_WRITE);
    }
    char* const low = reinterpret_cast<char*>(uintptr_t{kPage} + 16);
    expect(low, low);
    host.Protect(size, PROT_NONE);  // right behind it
    EXPECT_EQ(aclrtHostRegisterV2(host.at(0), size, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostRegisterV2(host.at(1), size - 1, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(host.at(1)), ACL_SUCCESS);
  }
}

TEST_F(HostRegister, WhatIsOnlyReadNeedNotBeWritable) {
  if (!EngineHasHostViews()) GTEST_SKIP() << "a GPU pins memory that can be written";
  for (size_t size : {3 * kPage, 4 * kMiB}) {
    HostPages host(size);
    host.Protect(kPage, PROT_READ);
    void* alias = nullptr;
    EXPECT_EQ(aclrtHostRegister(host.at(0), size, ACL_HOST_REGISTER_READONLY, &alias), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostRegisterV2(host.at(0), size, ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
    host.Protect(kPage, PROT_NONE);
    EXPECT_EQ(aclrtHostRegisterV2(host.at(0), size, ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED), ACL_ERROR_RT_PARAM_INVALID);
  }
}

// A stack has the pages that were touched; the others come when they are.
[[gnu::noinline]] void RegisterStack() {
  char bytes[2 * kMiB];
  asm volatile("" : : "r"(bytes) : "memory");
  EXPECT_EQ(aclrtHostRegisterV2(bytes, sizeof(bytes), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(bytes), ACL_SUCCESS);
}
TEST_F(HostRegister, AStackGrows) { RegisterStack(); }

TEST_F(HostRegister, LargeMemoryIsNotTouched) {
  HostPages host(64 * kMiB);
  ASSERT_EQ(aclrtHostRegisterV2(host.at(0), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  std::vector<unsigned char> resident(host.size() / kPage);
  ASSERT_EQ(mincore(host.at(0), host.size(), resident.data()), 0);
  if (EngineHasHostViews()) {
    EXPECT_EQ(std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1) != 0; }), 0);
  }
  EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
}

}  // namespace host_register_test
}  // namespace ropeway_test::bytes
