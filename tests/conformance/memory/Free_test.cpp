// aclrtFree: what it accepts, what it refuses, and the memory of a device that was closed.
#include <algorithm>
#include <sstream>

#include "tests/conformance/copy/call_checks.h"
#include "tests/support/sanitized.h"

namespace ropeway_test::bytes {
namespace free_test {

using Free = StreamTest;

void* Allocate(size_t size) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return block;
}

TEST_F(Free, NullIsRejectedByTheOuterLayer) {
  const Outcome outcome = Observe([] { return aclrtFree(nullptr); });
  EXPECT_EQ(outcome.code, ACL_ERROR_INVALID_PARAM);
  ExpectReported(outcome, "aclrtFree");
  EXPECT_EQ(OnFreshThread([] { return aclrtFree(nullptr); }), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Free, OnlyTheStartOfALiveBlockIsFreed) {
  DeviceBuffer device(4096);
  PinnedBuffer pinned(4096);
  static int static_word = 0;
  int local_word = 0;
  std::vector<uint8_t> registered(4096);
  ASSERT_EQ(aclrtHostRegisterV2(registered.data(), registered.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  struct Row {
    const char* what;
    void* pointer;
  };
  const Row rows[] = {
      {"one byte into a block", device.at(1)},
      {"an aligned place in a block", device.at(512)},
      {"the end of a block", device.at(4096 + 32)},
      {"before a block", device.at(0) - 512},
      {"inside a pinned block", pinned.get() + 64},
      {"a static variable", &static_word},
      {"a local variable", &local_word},
      {"registered memory", registered.data()},
      {"a small number", reinterpret_cast<void*>(uintptr_t{0x10})},
      {"the last address", reinterpret_cast<void*>(~uintptr_t{0})},
      {"a stream", stream_},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Outcome outcome = Observe([&] { return aclrtFree(row.pointer); });
    EXPECT_EQ(outcome.code, ACL_ERROR_RT_PARAM_INVALID);
    ExpectReported(outcome, "aclrtFree");
  }
  device.Write(Pattern(4096, 1));
  EXPECT_EQ(device.Read(4096), Pattern(4096, 1)) << "the block was harmed";
  EXPECT_EQ(aclrtHostUnregister(registered.data()), ACL_SUCCESS);
}

TEST_F(Free, SecondFreeIsRejected) {
  void* block = Allocate(64);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Free, NeedsNoContext) {
  void* block = Allocate(64);
  EXPECT_EQ(OnFreshThread([&] { return aclrtFree(block); }), ACL_SUCCESS);
  EXPECT_EQ(OnFreshThread([&] { return aclrtFree(block); }), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Free, AcceptsPinnedHostMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(pinned), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Free, DoesNotWaitForStreams) {
  DeviceBuffer other(64);
  void* block = Allocate(64);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(other.get(), 64, block, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);  // would never return if it waited
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
}

TEST_F(Free, DoesNotDeliverTheErrorOfAStream) {
  DeviceBuffer device(64);
  QueueFailingCopy(stream_, device);
  EXPECT_EQ(aclrtFree(Allocate(64)), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
}

TEST_F(Free, TextNamesCallAndPointer) {
  void* block = Allocate(64);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  std::ostringstream address;
  address << block;
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtFree", "devPtr", address.str()}, [&] { return aclrtFree(block); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtFree", "devPtr"}, [] { return aclrtFree(nullptr); });
}

// The device closes with its last reset: its memory is taken back, pinned host memory is not.
TEST_F(Free, MemoryEndsWithItsDevice) {
  const size_t at_start = FreeDeviceBytes();
  void* block = Allocate(1 * kMiB);
  PinnedBuffer pinned(64);
  Fill(pinned, Pattern(64, 2));
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);

  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), at_start);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(block, 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(BytesAt(pinned.get(), 64), Pattern(64, 2));
  DeviceBuffer again(64);
  ASSERT_EQ(aclrtMemcpyAsync(again.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(again.Read(64), Pattern(64, 2));
}

TEST_F(Free, MemoryLivesWhileAContextHoldsTheDevice) {
  aclrtContext context = nullptr;
  DeviceBuffer device(64);
  device.Write(Pattern(64, 3));
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), Pattern(64, 3)) << "the explicit context holds the device open";
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), Pattern(64, 3));
}

TEST_F(Free, OneOfManyThreadsFreesABlock) {
  constexpr int kThreads = 16;
  for (int round = 0; round < (kSanitized ? 10 : 50); ++round) {
    void* block = Allocate(64);
    std::vector<aclError> codes(kThreads);
    OnDeviceThreads(kThreads, [&](int thread) { codes[static_cast<size_t>(thread)] = aclrtFree(block); });
    EXPECT_EQ(std::count(codes.begin(), codes.end(), ACL_SUCCESS), 1);
    EXPECT_EQ(std::count(codes.begin(), codes.end(), ACL_ERROR_RT_PARAM_INVALID), kThreads - 1);
  }
}

}  // namespace free_test
}  // namespace ropeway_test::bytes
