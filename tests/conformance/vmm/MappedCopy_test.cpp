// Copies of virtual memory: across neighbouring mappings, between devices, and over an unmap.
#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test::vmm {
namespace mapped_copy_test {

using MappedCopy = StreamTest;

TEST_F(MappedCopy, CopiesCrossFromOneMappingIntoTheNext) {
  Range range(4 * kUnit);
  Physical first, second(2 * kUnit), third;
  Mapped a(range.get(), first), b(range.at(kUnit), second), c(range.at(3 * kUnit), third);
  const size_t count = 2 * kUnit + 5000;
  const auto data = Pattern(count, 5);
  PinnedBuffer from(count), to(count);
  bytes::Fill(from, data);
  char* const at = range.at(kUnit - 2000);  // touches all three
  ASSERT_EQ(aclrtMemcpyAsync(at, count, from.get(), count, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(to.get(), count, at, count, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(bytes::BytesAt(to.get(), count), data);
  EXPECT_EQ(aclrtMemset(range.get(), 4 * kUnit, 0x11, 4 * kUnit), ACL_SUCCESS);
  EXPECT_EQ(ReadAt(range.at(4 * kUnit - 3), 3), std::vector<uint8_t>(3, 0x11));
  EXPECT_EQ(aclrtMemset(range.get(), SIZE_MAX, 0x11, 4 * kUnit + 1), kBad) << "behind the end";
}

TEST_F(MappedCopy, AGapEndsTheBlock) {
  Range range(3 * kUnit);
  Physical first, second;
  Mapped a(range.get(), first), b(range.at(2 * kUnit), second);
  PinnedBuffer host(kUnit + 1);
  ASSERT_EQ(aclrtMemcpyAsync(range.get(), kUnit, host.get(), kUnit, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(range.get(), kUnit + 1, host.get(), kUnit + 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_), kBad);
  EXPECT_EQ(aclrtMemcpyAsync(range.at(kUnit), 1, host.get(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_), kBad);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(MappedCopy, TwoReservationsAreTwoBlocks) {
  void* place = nullptr;
  {
    Range probe(2 * kUnit);
    place = probe.get();
  }
  Range first(kUnit, place), second(kUnit, static_cast<char*>(place) + kUnit);
  Physical memory;
  Mapped a(first.get(), memory), b(second.get(), memory);
  EXPECT_EQ(aclrtMemset(first.at(kUnit - 1), 2, 0, 2), kBad);
}

TEST_F(MappedCopy, BatchesAndRowsWorkOnMappedMemory) {
  Range range(2 * kUnit);
  Physical first, second;
  Mapped a(range.get(), first), b(range.at(kUnit), second);
  const auto data = Pattern(4096, 6);
  PinnedBuffer host(data.size());
  bytes::Fill(host, data);
  void* dsts[2] = {range.at(kUnit - 1000), range.at(kUnit + 8192)};
  void* srcs[2] = {host.get(), host.get() + 2048};
  size_t sizes[2] = {2048, 2048}, index = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  ASSERT_EQ(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attribute, &index, 1, &failed, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ReadAt(dsts[0], 2048), std::vector<uint8_t>(data.begin(), data.begin() + 2048));
  EXPECT_EQ(ReadAt(dsts[1], 2048), std::vector<uint8_t>(data.begin() + 2048, data.end()));
  ASSERT_EQ(aclrtMemcpy2d(range.at(kUnit - 512), 1024, host.get(), 1024, 512, 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(ReadAt(range.at(kUnit - 512), 512), std::vector<uint8_t>(data.begin(), data.begin() + 512));
  EXPECT_EQ(ReadAt(range.at(kUnit + 512), 512), std::vector<uint8_t>(data.begin() + 1024, data.begin() + 1536));
}

TEST_F(MappedCopy, AnotherDevicesMemoryNeedsPeerAccess) {
  Range here_range(kUnit), there_range(kUnit);
  Physical here, there(kUnit, DeviceProp(1));
  Mapped a(here_range.get(), here), b(there_range.get(), there);
  WriteAt(here_range.get(), {1, 2, 3, 4});
  EXPECT_EQ(aclrtMemcpyAsync(there_range.get(), 4, here_range.get(), 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), kBad);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(there_range.get(), 4, here_range.get(), 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ReadAt(there_range.get(), 4), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
}

TEST_F(MappedCopy, WhatIsQueuedOutlivesAnUnmap) {
  Range range(kUnit), window(kUnit);
  Physical memory;
  Mapped mapped(range.get(), memory);
  const auto data = Pattern(100000, 7);
  PinnedBuffer host(data.size());
  bytes::Fill(host, data);
  bytes::HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(range.at(64), data.size(), host.get(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  mapped.Unmap();
  EXPECT_FALSE(IsThere(range.get())) << "gone for later calls";
  EXPECT_EQ(aclrtMemcpyAsync(range.at(64), 1, host.get(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_), kBad);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  Mapped elsewhere(window.get(), memory);
  EXPECT_EQ(ReadAt(window.at(64), data.size()), data);
}

TEST_F(MappedCopy, WhatIsQueuedOutlivesFreeAndRelease) {
  const size_t before = bytes::FreeDeviceBytes();
  PinnedBuffer host(1 << 20);
  {
    bytes::HeldStream held(stream_);
    Range range(kUnit);
    Physical memory;
    Mapped mapped(range.get(), memory);
    ASSERT_EQ(aclrtMemsetAsync(range.get(), kUnit, 0x42, 1 << 20, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(host.get(), 1 << 20, range.get(), 1 << 20, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    mapped.Unmap();
    memory.Free();
    range.Release();
    EXPECT_EQ(bytes::FreeDeviceBytes(), before);
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
  }
  EXPECT_EQ(bytes::BytesAt(host.get(), 1 << 20), std::vector<uint8_t>(1 << 20, 0x42));
}

// The address is wanted again while a copy to what was there before is queued: the copy comes first.
TEST_F(MappedCopy, MapWaitsForWorkOnWhatWasThere) {
  Range range(kUnit), window(kUnit);
  Physical old_memory, new_memory;
  PinnedBuffer host(4096);
  std::memset(host.get(), 0x77, 4096);
  Mapped mapped(range.get(), old_memory);
  bytes::HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(range.get(), 4096, host.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  mapped.Unmap();
  ASSERT_EQ(held.ReleaseDuring([&] { return aclrtMapMem(range.get(), kUnit, 0, new_memory.get(), 0); }), ACL_SUCCESS);
  EXPECT_EQ(ReadAt(range.get(), 4096), std::vector<uint8_t>(4096, 0)) << "the new memory is untouched";
  Mapped elsewhere(window.get(), old_memory);
  EXPECT_EQ(ReadAt(window.get(), 4096), std::vector<uint8_t>(4096, 0x77)) << "and the old one has the bytes";
  EXPECT_EQ(aclrtUnmapMem(range.get()), ACL_SUCCESS);
}

// A stream that stands still, perhaps because of us, holds nobody up for ever.
TEST_F(MappedCopy, MapDoesNotWaitForAStreamThatStandsStill) {
  Range range(kUnit);
  Physical memory;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 0), ACL_SUCCESS);
  Mapped(range.get(), memory).Unmap();
  Mapped mapped(range.get(), memory);
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(notify, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  WriteAt(range.get(), {1});
  EXPECT_EQ(ReadAt(range.get(), 1)[0], 1) << "the late end of the old mapping leaves the new one alone";
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(MappedCopy, AReservationCanBeTakenAgainAtOnce) {
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  Range range(kUnit);
  void* const place = range.get();
  range.Release();
  Range again(kUnit, place);  // nothing was mapped: nobody can use it
  EXPECT_EQ(again.get(), place);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(MappedCopy, TheHostViewCoversARun) {
  if (!EngineHasHostViews()) GTEST_SKIP() << "this engine's memory has no view";
  Range range(2 * kUnit);
  Physical first, second;
  Mapped a(range.get(), first), b(range.at(kUnit), second);
  void* view = nullptr;
  ASSERT_EQ(ropewayHostView(range.at(kUnit - 16), 32, &view), ACL_SUCCESS);
  std::memset(view, 0x33, 32);
  EXPECT_EQ(ReadAt(range.at(kUnit - 16), 32), std::vector<uint8_t>(32, 0x33));
  EXPECT_EQ(ropewayHostView(range.at(kUnit), kUnit + 1, &view), kBad);
}

}  // namespace mapped_copy_test
}  // namespace ropeway_test::vmm
