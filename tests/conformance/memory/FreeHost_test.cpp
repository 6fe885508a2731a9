// aclrtFreeHost: frees the start of a live aclrtMallocHost block, and nothing else.
#include <sstream>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace free_host_test {

using FreeHost = StreamTest;

void* Allocate(size_t size) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMallocHost(&block, size), ACL_SUCCESS);
  return block;
}

TEST_F(FreeHost, NullIsRejectedByTheOuterLayer) {
  const Outcome outcome = Observe([] { return aclrtFreeHost(nullptr); });
  EXPECT_EQ(outcome.code, ACL_ERROR_INVALID_PARAM);
  ExpectReported(outcome, "aclrtFreeHost");
}

TEST_F(FreeHost, OnlyTheStartOfALivePinnedBlockIsFreed) {
  PinnedBuffer pinned(4096);
  DeviceBuffer device(4096);
  static int static_word = 0;
  int local_word = 0;
  std::vector<uint8_t> registered(4096);
  ASSERT_EQ(aclrtHostRegisterV2(registered.data(), registered.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  struct Row {
    const char* what;
    void* pointer;
  };
  const Row rows[] = {
      {"one byte into a block", pinned.get() + 1},
      {"an aligned place in a block", pinned.get() + 512},
      {"device memory", device.get()},
      {"inside device memory", device.at(64)},
      {"a static variable", &static_word},
      {"a local variable", &local_word},
      {"registered memory", registered.data()},
      {"a small number", reinterpret_cast<void*>(uintptr_t{0x10})},
      {"the last address", reinterpret_cast<void*>(~uintptr_t{0})},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Outcome outcome = Observe([&] { return aclrtFreeHost(row.pointer); });
    EXPECT_EQ(outcome.code, ACL_ERROR_RT_PARAM_INVALID);
    ExpectReported(outcome, "aclrtFreeHost");
  }
  std::memset(pinned.get(), 1, 4096);
  device.Write(Pattern(4096, 1));
  EXPECT_EQ(device.Read(4096), Pattern(4096, 1));
  EXPECT_EQ(aclrtHostUnregister(registered.data()), ACL_SUCCESS);
}

TEST_F(FreeHost, SecondFreeIsRejected) {
  void* block = Allocate(64);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(FreeHost, NeedsNoContext) {
  void* block = Allocate(64);
  EXPECT_EQ(OnFreshThread([&] { return aclrtFreeHost(block); }), ACL_SUCCESS);
}

TEST_F(FreeHost, WorksAfterTheDeviceWasClosed) {
  void* block = Allocate(64);
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  std::memset(block, 1, 64);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
}

TEST_F(FreeHost, DoesNotWaitForStreams) {
  DeviceBuffer device(64);
  void* block = Allocate(64);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 64, block, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);  // would never return if it waited
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
}

TEST_F(FreeHost, DropsTheRegistrationOfTheBlock) {
  void* block = Allocate(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(block, 4096, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(block), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(aclrtHostGetDevicePointer(block, &alias, 0), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(FreeHost, TextNamesCallAndPointer) {
  int word = 0;
  std::ostringstream address;
  address << static_cast<void*>(&word);
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtFreeHost", "hostPtr", address.str()}, [&] { return aclrtFreeHost(&word); });
}

}  // namespace free_host_test
}  // namespace ropeway_test::bytes
