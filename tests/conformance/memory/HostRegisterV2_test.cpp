// aclrtHostRegisterV2: registration by flags; PINNED turns pageable memory into pinned memory.
#include <random>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace host_register_v2_test {

using HostRegisterV2 = StreamTest;

constexpr auto kMapped = static_cast<uint32_t>(ACL_HOST_REG_MAPPED);
constexpr auto kIoMemory = static_cast<uint32_t>(ACL_HOST_REG_IOMEMORY);
constexpr auto kReadOnly = static_cast<uint32_t>(ACL_HOST_REG_READONLY);
constexpr auto kPinned = static_cast<uint32_t>(ACL_HOST_REG_PINNED);

struct Args : CallArgs {
  void* ptr;
  uint64_t size = 4096;
  uint32_t flag = kPinned;
};

TEST_F(HostRegisterV2, EarlierCheckWins) {
  std::vector<uint8_t> taken(4096);
  std::vector<uint8_t> host(4096);
  ASSERT_EQ(aclrtHostRegisterV2(taken.data(), taken.size(), kMapped), ACL_SUCCESS);
  Args valid;
  valid.ptr = host.data();
  const std::vector<Check<Args>> checks = {
      {"ptr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.ptr = nullptr; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = 0; }},
      {"flag 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.flag = 0; }},
      {"unknown flag", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.flag = 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"registered already", ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, [&](Args& a) { a.ptr = taken.data(); }},
  };
  auto call = [](const Args& a) { return aclrtHostRegisterV2(a.ptr, a.size, a.flag); };
  ExpectCheckOrder("aclrtHostRegisterV2", valid, checks, call, [&] {
    aclrtPtrAttributes attributes = {};
    EXPECT_EQ(aclrtPointerGetAttributes(host.data(), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  });
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(taken.data()), ACL_SUCCESS);
}

TEST_F(HostRegisterV2, EveryKnownFlagMakesTheMemoryPinned) {
  std::vector<uint8_t> host(4096);
  for (uint32_t flag : {kMapped, kIoMemory, kReadOnly, kPinned, kMapped | kPinned, kMapped | kIoMemory | kReadOnly | kPinned}) {
    SCOPED_TRACE(flag);
    ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), flag), ACL_SUCCESS);
    aclrtPtrAttributes attributes = {};
    EXPECT_EQ(aclrtPointerGetAttributes(host.data() + 100, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    ASSERT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
    EXPECT_EQ(aclrtPointerGetAttributes(host.data() + 100, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  }
}

TEST_F(HostRegisterV2, UnknownFlagsAreRejected) {
  std::vector<uint8_t> host(4096);
  for (uint32_t flag : {0u, 1u, 0x10u, 0x20000000u, kPinned | 1u, UINT32_MAX}) {
    EXPECT_EQ(aclrtHostRegisterV2(host.data(), host.size(), flag), ACL_ERROR_RT_PARAM_INVALID) << flag;
  }
}

// What aclrtMallocHost gave out is pinned already; only mapping it is left to do.
TEST_F(HostRegisterV2, PinningPinnedMemoryIsRejectedMappingIsNot) {
  PinnedBuffer pinned(4096);
  EXPECT_EQ(aclrtHostRegisterV2(pinned.get(), 4096, kPinned), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(pinned.get() + 64, 64, kPinned | kMapped), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(pinned.get(), 4096, kMapped), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), ACL_SUCCESS);
}

TEST_F(HostRegisterV2, DeviceMemoryIsRejected) {
  DeviceBuffer device(4096);
  EXPECT_EQ(aclrtHostRegisterV2(device.get(), 4096, kPinned), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(device.at(64), 64, kMapped), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(HostRegisterV2, SizeThatWrapsIsRejected) {
  std::vector<uint8_t> host(64);
  EXPECT_NE(aclrtHostRegisterV2(host.data(), UINT64_MAX, kPinned), ACL_SUCCESS);
  EXPECT_NE(aclrtHostRegisterV2(host.data(), UINT64_MAX - 63, kPinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(HostRegisterV2, ExactlyTheGivenBytesAreRegistered) {
  std::vector<uint8_t> host(4096);
  ASSERT_EQ(aclrtHostRegisterV2(host.data() + 101, 1001, kPinned), ACL_SUCCESS);
  struct Row {
    size_t offset;
    aclrtMemLocationType type;
  };
  for (Row row : {Row{100, ACL_MEM_LOCATION_TYPE_UNREGISTERED}, Row{101, ACL_MEM_LOCATION_TYPE_HOST}, Row{1101, ACL_MEM_LOCATION_TYPE_HOST},
                  Row{1102, ACL_MEM_LOCATION_TYPE_UNREGISTERED}}) {
    aclrtPtrAttributes attributes = {};
    ASSERT_EQ(aclrtPointerGetAttributes(host.data() + row.offset, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, row.type) << row.offset;
  }
  EXPECT_EQ(aclrtHostUnregister(host.data() + 101), ACL_SUCCESS);
}

TEST_F(HostRegisterV2, CopiesFromItWaitForTheStream) {
  DeviceBuffer device(4096);
  std::vector<uint8_t> host(4096);
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), kPinned), ACL_SUCCESS);
  device.Write(Pattern(4096, 1));
  {
    HeldStream held(stream_);
    ASSERT_EQ(aclrtMemcpyAsync(host.data(), 4096, device.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    EXPECT_EQ(host, std::vector<uint8_t>(4096));
    EXPECT_EQ(held.Release(), ACL_SUCCESS);
  }
  EXPECT_EQ(host, Pattern(4096, 1));
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

TEST_F(HostRegisterV2, TextNamesCallArgumentAndValue) {
  std::vector<uint8_t> host(64);
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostRegisterV2", "ptr"}, [] { return aclrtHostRegisterV2(nullptr, 64, kPinned); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtHostRegisterV2", "size"}, [&] { return aclrtHostRegisterV2(host.data(), 0, kPinned); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtHostRegisterV2", "flag"}, [&] { return aclrtHostRegisterV2(host.data(), 64, 0); });
}

TEST_F(HostRegisterV2, ManyThreads) {
  constexpr size_t kSlots = 64;
  std::vector<uint8_t> host(16 * kSlots * 256);
  OnDeviceThreads(16, [&](int thread) {
    std::mt19937 random(90 + static_cast<uint32_t>(thread));
    auto* mine = host.data() + static_cast<size_t>(thread) * kSlots * 256;
    std::vector<bool> enrolled(kSlots);
    for (int i = 0; i < 200; ++i) {
      const size_t slot = random() % kSlots;
      auto* place = mine + slot * 256;
      if (enrolled[slot]) {
        EXPECT_EQ(aclrtHostRegisterV2(place, 1, kPinned), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        ASSERT_EQ(aclrtHostUnregister(place), ACL_SUCCESS);
      } else {
        EXPECT_EQ(aclrtHostUnregister(place), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
        ASSERT_EQ(aclrtHostRegisterV2(place, 256, kPinned), ACL_SUCCESS);
      }
      enrolled[slot] = !enrolled[slot];
    }
    for (size_t slot = 0; slot < kSlots; ++slot) {
      if (enrolled[slot]) ASSERT_EQ(aclrtHostUnregister(mine + slot * 256), ACL_SUCCESS);
    }
  });
}

}  // namespace host_register_v2_test
}  // namespace ropeway_test::bytes
