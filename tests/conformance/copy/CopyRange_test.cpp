// Ranges and lifetimes of copies: what counts as one block, what leaves it, and blocks that are freed under queued
// work.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace copy_range_test {

using CopyRange = StreamTest;

// The same copy by the blocking and by the queueing call: both refuse or both succeed.
void ExpectBoth(aclError code, void* dst, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  EXPECT_EQ(aclrtMemcpy(dst, SIZE_MAX, src, count, kind), code);
  EXPECT_EQ(aclrtMemcpyAsync(dst, SIZE_MAX, src, count, kind, stream), code);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(CopyRange, BlockHasTheReservedBytesOfItsAllocator) {
  struct Row {
    const char* what;
    Callable<aclError(void**, size_t)> allocate;
    size_t padding;
  };
  const Row rows[] = {
      {"aclrtMalloc", [](void** p, size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, 32},
      {"aclrtMallocCached", [](void** p, size_t n) { return aclrtMallocCached(p, n, ACL_MEM_MALLOC_NORMAL_ONLY); }, 32},
      {"aclrtMallocAlign32", [](void** p, size_t n) { return aclrtMallocAlign32(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, 0},
      {"aclrtMallocWithCfg", [](void** p, size_t n) { return aclrtMallocWithCfg(p, n, ACL_MEM_MALLOC_HUGE_FIRST, nullptr); }, 0},
      {"aclrtMallocForTaskScheduler",
       [](void** p, size_t n) { return aclrtMallocForTaskScheduler(p, n, ACL_MEM_MALLOC_HUGE_FIRST, nullptr); }, 0},
  };
  PinnedBuffer host(8192);
  for (const Row& row : rows) {
    for (size_t size : {1, 31, 32, 33, 1000, 4096}) {
      SCOPED_TRACE(std::string(row.what) + " of " + std::to_string(size));
      void* block = nullptr;
      ASSERT_EQ(row.allocate(&block, size), ACL_SUCCESS);
      const size_t reserved = (size + 31) / 32 * 32 + row.padding;
      auto* middle = static_cast<char*>(block) + reserved / 2;
      const size_t rest = reserved - reserved / 2;
      ExpectBoth(ACL_SUCCESS, block, host.get(), reserved, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
      ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, block, host.get(), reserved + 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
      ExpectBoth(ACL_SUCCESS, host.get(), middle, rest, ACL_MEMCPY_DEVICE_TO_HOST, stream_);
      ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, host.get(), middle, rest + 1, ACL_MEMCPY_DEVICE_TO_HOST, stream_);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  }
}

TEST_F(CopyRange, PinnedBlockIsRoundedToThirtyTwo) {
  DeviceBuffer device(4096);
  for (size_t size : {1, 32, 33, 1000}) {
    SCOPED_TRACE(size);
    PinnedBuffer pinned(size);
    const size_t reserved = (size + 31) / 32 * 32;
    std::memset(pinned.get(), 0, reserved);
    ExpectBoth(ACL_SUCCESS, device.get(), pinned.get(), reserved, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, device.get(), pinned.get(), reserved + 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, pinned.get(), device.get(), reserved + 1, ACL_MEMCPY_DEVICE_TO_HOST, stream_);
  }
}

TEST_F(CopyRange, HugeCountsAreRejectedWithoutAByteMoving) {
  DeviceBuffer device(256);
  DeviceBuffer other(256);
  PinnedBuffer pinned(256);
  uint8_t pageable[256] = {};
  device.Write(Pattern(256, 1));
  const auto to_device = ACL_MEMCPY_HOST_TO_DEVICE;
  for (size_t count : {size_t{1} << 32, size_t{1} << 47, SIZE_MAX / 2, SIZE_MAX - 63, SIZE_MAX - 1, SIZE_MAX}) {
    SCOPED_TRACE(count);
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, device.get(), pinned.get(), count, to_device, stream_);
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, device.get(), pageable, count, to_device, stream_);
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, device.get(), other.get(), count, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_);
  }
  EXPECT_EQ(device.Read(256), Pattern(256, 1));
}

// A refused range has no effect at all, not even where it would have been legal.
TEST_F(CopyRange, OverlongCopyMovesNoPart) {
  DeviceBuffer device(256);
  PinnedBuffer pinned(4096);
  Fill(pinned, Pattern(4096, 2));
  device.Write(Pattern(256, 3));
  ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, device.at(128), pinned.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
  EXPECT_EQ(device.Read(256), Pattern(256, 3));
}

TEST_F(CopyRange, DestMaxNeitherWidensNorNarrowsABlock) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(4096);
  EXPECT_EQ(aclrtMemcpy(device.get(), SIZE_MAX, pinned.get(), 97, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device.get(), SIZE_MAX, pinned.get(), 96, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device.get(), 8, pinned.get(), 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

TEST_F(CopyRange, NeighbouringAllocationsAreTwoBlocks) {
  PinnedBuffer host(64 * kKiB);
  std::vector<std::unique_ptr<DeviceBuffer>> blocks;
  for (int i = 0; i < 32; ++i) blocks.push_back(std::make_unique<DeviceBuffer>(4096 - 32));
  for (const auto& block : blocks) {
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, host.get(), block->get(), 4097, ACL_MEMCPY_DEVICE_TO_HOST, stream_);
    ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, host.get(), block->get(), 8192, ACL_MEMCPY_DEVICE_TO_HOST, stream_);
  }
}

TEST_F(CopyRange, FreedDeviceMemoryIsInNoBlock) {
  PinnedBuffer pinned(64);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, freed, pinned.get(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_);
  ExpectBoth(ACL_ERROR_RT_PARAM_INVALID, pinned.get(), freed, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_);
}

TEST_F(CopyRange, AnyPartOfARegistrationIsPinned) {
  DeviceBuffer device(4096);
  std::vector<uint8_t> host = Pattern(8192, 4);
  ASSERT_EQ(aclrtHostRegisterV2(host.data() + 1000, 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  {
    HeldStream held(stream_);
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), 100, host.data() + 1001, 100, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(device.at(100), 96, host.data() + 5000, 96, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    EXPECT_EQ(held.Release(), ACL_SUCCESS);
  }
  const auto seen = device.Read(196);
  EXPECT_TRUE(std::equal(seen.begin(), seen.begin() + 100, host.begin() + 1001));
  EXPECT_TRUE(std::equal(seen.begin() + 100, seen.end(), host.begin() + 5000));
  EXPECT_EQ(aclrtHostUnregister(host.data() + 1000), ACL_SUCCESS);
}

// Such a range is still the program's memory: it is copied, but like pageable memory, behind the stream and at once.
TEST_F(CopyRange, RangeThatCrossesARegistrationIsPageable) {
  DeviceBuffer device(4096);
  std::vector<uint8_t> host(8192);
  ASSERT_EQ(aclrtHostRegisterV2(host.data() + 1000, 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  PinnedBuffer pinned(256);
  struct Row {
    const char* what;
    size_t first;
  };
  for (const Row& row : {Row{"begins before", 900}, Row{"ends behind", 4096 + 1000 - 100}}) {
    SCOPED_TRACE(row.what);
    Fill(pinned, Pattern(256, 5));
    std::fill(host.begin(), host.end(), uint8_t{0});
    device.Write(std::vector<uint8_t>(256));
    HeldStream held(stream_);
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), 256, pinned.get(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    auto* target = host.data() + row.first;
    EXPECT_EQ(held.ReleaseDuring([&] { return aclrtMemcpyAsync(target, 256, device.get(), 256, ACL_MEMCPY_DEVICE_TO_HOST, stream_); }),
              ACL_SUCCESS);
    EXPECT_EQ(BytesAt(target, 256), Pattern(256, 5));
  }
  EXPECT_EQ(aclrtHostUnregister(host.data() + 1000), ACL_SUCCESS);
}

// Blocks freed under a queued copy: gone for every later call, but their bytes and addresses stay until the copy has
// run.
TEST_F(CopyRange, FreeUnderQueuedCopiesIsSafe) {
  constexpr size_t kSize = 256 * kKiB;
  const size_t free_at_start = FreeDeviceBytes();
  void* source = nullptr;
  void* middle = nullptr;
  ASSERT_EQ(aclrtMalloc(&source, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&middle, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const auto bytes = Pattern(kSize, 6);
  ASSERT_EQ(aclrtMemcpy(source, kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  PinnedBuffer result(kSize);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(middle, kSize, source, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(result.get(), kSize, middle, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);

  EXPECT_EQ(aclrtFree(source), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(middle), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), free_at_start);
  EXPECT_EQ(aclrtFree(source), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(middle, 64, source, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes attributes;
  EXPECT_EQ(aclrtPointerGetAttributes(middle, &attributes), ACL_ERROR_RT_PARAM_INVALID);

  std::vector<std::unique_ptr<DeviceBuffer>> later;
  for (uint32_t i = 0; i < 16; ++i) {
    later.push_back(std::make_unique<DeviceBuffer>(kSize));
    later.back()->Write(Pattern(kSize, 100 + i));
    for (void* old : {source, middle}) {
      const auto distance = static_cast<char*>(later.back()->get()) - static_cast<char*>(old);
      EXPECT_GE(static_cast<size_t>(std::abs(distance)), kSize) << "the address of a block still in use was given out";
    }
  }
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_TRUE(BytesAt(result.get(), kSize) == bytes) << "the queued copies lost their bytes";
  for (uint32_t i = 0; i < 16; ++i) EXPECT_TRUE(later[i]->Read(kSize) == Pattern(kSize, 100 + i)) << i;
}

TEST_F(CopyRange, FreeHostUnderQueuedCopiesIsSafe) {
  constexpr size_t kSize = 64 * kKiB;
  DeviceBuffer device(kSize);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kSize), ACL_SUCCESS);
  const auto bytes = Pattern(kSize, 7);
  std::memcpy(pinned, bytes.data(), kSize);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), kSize, pinned, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_ERROR_RT_PARAM_INVALID);
  std::vector<std::unique_ptr<PinnedBuffer>> later;
  for (int i = 0; i < 16; ++i) {
    later.push_back(std::make_unique<PinnedBuffer>(kSize));
    std::memset(later.back()->get(), 0xEE, kSize);
  }
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_TRUE(device.Read(kSize) == bytes) << "the queued copy lost its source";
}

TEST_F(CopyRange, UnregisterUnderQueuedCopiesIsSafe) {
  DeviceBuffer device(4096);
  std::vector<uint8_t> host = Pattern(4096, 8);
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 4096, host.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(4096), Pattern(4096, 8));
}

TEST_F(CopyRange, TextTellsWhatLeftTheBlock) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(4096);
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpy", "dst", "4096"},
             [&] { return aclrtMemcpy(device.get(), 4096, pinned.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpyAsync", "src", "4096"},
             [&] { return aclrtMemcpyAsync(pinned.get(), 4096, device.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_); });
}

}  // namespace copy_range_test
}  // namespace ropeway_test::bytes
