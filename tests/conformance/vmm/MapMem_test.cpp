// aclrtMapMem, aclrtMemMapNoAccess, aclrtUnmapMem, aclrtMemRetainAllocationHandle.
#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test::vmm {
namespace map_mem_test {

using MapMem = DeviceTest;

struct Args : bytes::CallArgs {
  void* at = nullptr;
  size_t size = kUnit;
  size_t offset = 0;
  aclrtDrvMemHandle handle = nullptr;
  uint64_t flags = 0;
};

TEST_F(MapMem, EarlierCheckWins) {
  for (auto* map : {aclrtMapMem, aclrtMemMapNoAccess}) {
    Range range(2 * kUnit);
    Physical memory;
    Args valid;
    valid.at = range.at(kUnit);  // inside of a reservation
    valid.handle = memory.get();
    const std::vector<bytes::Check<Args>> checks = {
        {"virPtr NULL", kOuter, [](Args& a) { a.at = nullptr; }},
        {"handle NULL", kOuter, [](Args& a) { a.handle = nullptr; }},
        {"size 0", kOuter, [](Args& a) { a.size = 0; }},
        {"flags 1", kOuter, [](Args& a) { a.flags = 1; }},
        {"offset", kBad, [](Args& a) { a.offset = kUnit; }},
        {"no handle", kBad, [](Args& a) { a.handle = Nonsense(); }},
        {"another size", kBad, [](Args& a) { a.size = 2 * kUnit; }},
        {"misaligned", kBad, [&](Args& a) { a.at = range.at(4096); }},
        {"not reserved", kBad, [](Args& a) { a.at = reinterpret_cast<void*>(uintptr_t{kGiB}); }},
    };
    auto call = [&](const Args& a) { return map(a.at, a.size, a.offset, a.handle, a.flags); };
    bytes::ExpectCheckOrder(map == aclrtMapMem ? "aclrtMapMem" : "aclrtMemMapNoAccess", valid, checks, call,
                            [&] { EXPECT_FALSE(IsThere(range.at(kUnit))); });
    EXPECT_EQ(IsThere(range.at(kUnit)), map == aclrtMapMem);
    EXPECT_EQ(aclrtUnmapMem(range.at(kUnit)), ACL_SUCCESS);
  }
}

TEST_F(MapMem, WhatIsMappedIsDeviceMemory) {
  Range range(4 * kUnit);
  Physical memory(2 * kUnit);
  Mapped mapped(range.at(kUnit), memory);
  aclrtPtrAttributes attributes = {};
  ASSERT_EQ(aclrtPointerGetAttributes(range.at(2 * kUnit + 77), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 0u);
  EXPECT_EQ(attributes.pageSize, kUnit);
  void* base = nullptr;
  size_t size = 0;
  ASSERT_EQ(aclrtMemGetAddressRange(range.at(2 * kUnit), &base, &size), ACL_SUCCESS);
  EXPECT_EQ(base, range.at(kUnit));
  EXPECT_EQ(size, 2 * kUnit);
  EXPECT_FALSE(IsThere(range.get()));
  EXPECT_FALSE(IsThere(range.at(3 * kUnit)));
  EXPECT_EQ(aclrtFree(mapped.get()), kBad);
  EXPECT_EQ(aclrtFreeHost(mapped.get()), kBad);
  EXPECT_EQ(ReadAt(mapped.get(), 64), std::vector<uint8_t>(64, 0)) << "fresh memory is zero";
}

TEST_F(MapMem, AddressesMustBeReservedAndFree) {
  Range range(4 * kUnit);
  Physical one, two(2 * kUnit), three(3 * kUnit);
  Mapped mapped(range.at(kUnit), two);
  for (size_t at : {kUnit, 2 * kUnit}) {
    bytes::ExpectText(kBad, {"meets the mapping"}, [&] { return aclrtMapMem(range.at(at), kUnit, 0, one.get(), 0); });
  }
  EXPECT_EQ(aclrtMapMem(range.get(), 2 * kUnit, 0, two.get(), 0), kBad) << "its end meets it";
  bytes::ExpectText(kBad, {"leaves its reservation"}, [&] { return aclrtMapMem(range.at(3 * kUnit), 2 * kUnit, 0, two.get(), 0); });
  EXPECT_EQ(aclrtMapMem(range.at(4 * kUnit), kUnit, 0, one.get(), 0), kBad) << "behind the end";
  Mapped before(range.get(), one), behind(range.at(3 * kUnit), one);
}

TEST_F(MapMem, PagesOfOneGigabyteWantTheirAlignment) {
  Range range(2 * kGiB);
  Physical memory(kGiB, PropOf(ACL_HBM_MEM_HUGE1G, ACL_MEM_LOCATION_TYPE_DEVICE, 0));
  EXPECT_EQ(aclrtMapMem(range.at(kUnit), kGiB, 0, memory.get(), 0), kBad);
  Mapped mapped(range.at(kGiB), memory);
  aclrtPtrAttributes attributes = {};
  ASSERT_EQ(aclrtPointerGetAttributes(mapped.get(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.pageSize, kGiB);
}

TEST_F(MapMem, OneReservationHoldsMemoryOfOneDevice) {
  Range range(2 * kUnit);
  Physical here, there(kUnit, DeviceProp(1)), host(kUnit, HostProp());
  {
    Mapped mapped(range.get(), here);
    bytes::ExpectText(kBad, {"one device"}, [&] { return aclrtMapMem(range.at(kUnit), kUnit, 0, there.get(), 0); });
    EXPECT_EQ(aclrtMapMem(range.at(kUnit), kUnit, 0, host.get(), 0), kBad);
  }
  Mapped mapped(range.get(), there);  // it is empty again
}

TEST_F(MapMem, OneHandleCanBeMappedTwice) {
  Range range(2 * kUnit);
  Physical memory;
  Mapped first(range.get(), memory), second(range.at(kUnit), memory);
  const auto data = Pattern(5000, 1);
  WriteAt(range.at(100), data);
  EXPECT_EQ(ReadAt(range.at(kUnit + 100), data.size()), data);
}

TEST_F(MapMem, BytesStayWithTheHandle) {
  Range range(2 * kUnit);
  Physical memory;
  const auto data = Pattern(4096, 2);
  {
    Mapped mapped(range.get(), memory);
    WriteAt(range.at(kUnit - data.size()), data);
  }
  EXPECT_FALSE(IsThere(range.get()));
  Mapped mapped(range.at(kUnit), memory);
  EXPECT_EQ(ReadAt(range.at(2 * kUnit - data.size()), data.size()), data);
}

TEST_F(MapMem, UnmapTakesTheStartOfAMapping) {
  Range range(3 * kUnit);
  Physical memory(2 * kUnit);
  EXPECT_EQ(aclrtUnmapMem(nullptr), kOuter);
  EXPECT_EQ(aclrtUnmapMem(range.get()), kBad) << "nothing is mapped";
  Mapped mapped(range.at(kUnit), memory);
  EXPECT_EQ(aclrtUnmapMem(range.get()), kBad);
  bytes::ExpectText(kBad, {"virPtr", "not the start"}, [&] { return aclrtUnmapMem(range.at(2 * kUnit)); });
  EXPECT_EQ(aclrtUnmapMem(Nonsense()), kBad);
  void* const was = mapped.get();
  mapped.Unmap();
  EXPECT_EQ(aclrtUnmapMem(was), kBad) << "twice";
}

TEST_F(MapMem, AFreedHandleLivesAsLongAsItsMappings) {
  const size_t before = bytes::FreeDeviceBytes();
  Range range(2 * kUnit);
  Physical memory;
  void* const was = memory.get();
  Mapped first(range.get(), memory), second(range.at(kUnit), memory);
  WriteAt(range.get(), {1, 2, 3});
  memory.Free();
  EXPECT_EQ(aclrtFreePhysical(was), kBad);
  EXPECT_EQ(before - bytes::FreeDeviceBytes(), kUnit);
  first.Unmap();
  EXPECT_EQ(before - bytes::FreeDeviceBytes(), kUnit) << "one mapping is left";
  EXPECT_EQ(ReadAt(range.at(kUnit), 3), (std::vector<uint8_t>{1, 2, 3}));
  second.Unmap();
  EXPECT_EQ(bytes::FreeDeviceBytes(), before);
}

TEST_F(MapMem, EachRetainNeedsItsFree) {
  const size_t before = bytes::FreeDeviceBytes();
  Range range(kUnit);
  Physical memory;
  Mapped mapped(range.get(), memory);
  aclrtDrvMemHandle retained = nullptr;
  ASSERT_EQ(aclrtMemRetainAllocationHandle(range.get(), &retained), ACL_SUCCESS);
  EXPECT_EQ(retained, memory.get()) << "the handle that is there";
  mapped.Unmap();
  memory.Free();
  EXPECT_EQ(before - bytes::FreeDeviceBytes(), kUnit);
  aclrtPhysicalMemProp prop = {};
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(retained, &prop), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(retained), ACL_SUCCESS);
  EXPECT_EQ(bytes::FreeDeviceBytes(), before);
  EXPECT_EQ(aclrtFreePhysical(retained), kBad);
}

TEST_F(MapMem, RetainAfterTheLastFreeGivesANewHandle) {
  Range range(kUnit);
  Physical memory;
  void* const was = memory.get();
  Mapped mapped(range.get(), memory);
  memory.Free();
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(aclrtMemRetainAllocationHandle(range.get(), &handle), ACL_SUCCESS);
  EXPECT_NE(handle, was);
  EXPECT_EQ(aclrtFreePhysical(was), kBad) << "the old one stays stale";
  Range other(kUnit);
  ASSERT_EQ(aclrtMapMem(other.get(), kUnit, 0, handle, 0), ACL_SUCCESS);
  WriteAt(other.get(), {9});
  EXPECT_EQ(ReadAt(range.get(), 1)[0], 9);
  EXPECT_EQ(aclrtUnmapMem(other.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

TEST_F(MapMem, RetainChecks) {
  Range range(3 * kUnit);
  Physical memory(2 * kUnit);
  aclrtDrvMemHandle handle = Nonsense();
  Mapped mapped(range.get(), memory);
  EXPECT_EQ(aclrtMemRetainAllocationHandle(nullptr, &handle), kOuter);
  EXPECT_EQ(aclrtMemRetainAllocationHandle(range.get(), nullptr), kOuter);
  EXPECT_EQ(aclrtMemRetainAllocationHandle(range.at(kUnit), &handle), kBad) << "inside of the mapping";
  EXPECT_EQ(aclrtMemRetainAllocationHandle(range.at(2 * kUnit), &handle), kBad) << "nothing there";
  EXPECT_EQ(aclrtMemRetainAllocationHandle(Nonsense(), &handle), kBad);
  DeviceBuffer block(kUnit);
  EXPECT_EQ(aclrtMemRetainAllocationHandle(block.get(), &handle), kBad) << "not virtual memory";
  EXPECT_EQ(handle, Nonsense());
}

TEST_F(MapMem, HostMemoryIsPinnedAndTheHostsOwn) {
  for (const auto& prop : {HostProp(), PropOf(ACL_DDR_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST_NUMA, 0)}) {
    Range range(2 * kUnit);
    Physical memory(kUnit, prop);
    Mapped mapped(range.at(kUnit), memory);
    aclrtPtrAttributes attributes = {};
    ASSERT_EQ(aclrtPointerGetAttributes(range.at(kUnit + 5), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    const auto data = Pattern(1 << 16, 3);
    std::memcpy(range.at(kUnit), data.data(), data.size());  // host code may
    DeviceBuffer block(data.size());
    EXPECT_EQ(aclrtMemcpyAsync(block.get(), block.size(), range.at(kUnit), data.size(), ACL_MEMCPY_DEFAULT, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(block.Read(data.size()), data);
    EXPECT_EQ(aclrtFreeHost(range.at(kUnit)), kBad);
  }
}

}  // namespace map_mem_test
}  // namespace ropeway_test::vmm
