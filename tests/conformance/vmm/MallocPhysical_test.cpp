// aclrtMallocPhysical, aclrtFreePhysical, aclrtMemGetAllocationGranularity, aclrtMemGetAllocationPropertiesFromHandle.
#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test::vmm {
namespace malloc_physical_test {

using MallocPhysical = DeviceTest;
using MallocPhysicalBare = BareTest;

struct Args : bytes::CallArgs {
  bool null_handle = false;
  bool null_prop = false;
  size_t size = kUnit;
  uint64_t flags = 0;
  aclrtPhysicalMemProp prop = DeviceProp();
};

// Violations of the properties; each keeps what the earlier ones have set.
template <typename Call>
std::vector<bytes::Check<Call>> PropertyChecks() {
  return {
      {"handle type POSIX", kOuter, [](Call& a) { a.prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX; }},
      {"allocation type", kOuter, [](Call& a) { a.prop.allocationType = static_cast<aclrtMemAllocationType>(1); }},
      {"pageable location", kOuter, [](Call& a) { a.prop.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED; }},
      {"DDR on a device", kOuter, [](Call& a) { a.prop.memAttr = ACL_DDR_MEM_HUGE; }},
      {"device id", ACL_ERROR_RT_INVALID_DEVICEID, [](Call& a) { a.prop.location.id = 99; }},
  };
}

TEST_F(MallocPhysical, EarlierCheckWins) {
  aclrtDrvMemHandle handle = Nonsense();
  std::vector<bytes::Check<Args>> checks = {
      {"handle NULL", kOuter, [](Args& a) { a.null_handle = true; }},
      {"prop NULL", kOuter, [](Args& a) { a.null_prop = true; }},
      {"size 0", kOuter, [](Args& a) { a.size = 0; }},
      {"flags 1", kOuter, [](Args& a) { a.flags = 1; }},
  };
  for (auto& check : PropertyChecks<Args>()) checks.push_back(check);
  checks.push_back({"size no multiple", kBad, [](Args& a) { a.size = a.size == 0 ? 0 : kUnit + 4096; }});
  auto call = [&](const Args& a) {
    return aclrtMallocPhysical(a.null_handle ? nullptr : &handle, a.size, a.null_prop ? nullptr : &a.prop, a.flags);
  };
  bytes::ExpectCheckOrder("aclrtMallocPhysical", Args{}, checks, call, [&] { EXPECT_EQ(handle, Nonsense()); });
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

TEST_F(MallocPhysical, AttributesThatCanBeAskedFor) {
  const auto device = ACL_MEM_LOCATION_TYPE_DEVICE, host = ACL_MEM_LOCATION_TYPE_HOST;
  struct Case {
    int asked, on_device, on_host;  // what the handle says of itself; -1: refused
  };
  const Case cases[] = {
      {ACL_DDR_MEM, -1, -1},
      {ACL_HBM_MEM, -1, -1},
      {ACL_DDR_MEM_HUGE, -1, ACL_DDR_MEM_HUGE},
      {ACL_DDR_MEM_NORMAL, -1, ACL_DDR_MEM_NORMAL},
      {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE},
      {ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE},
      {ACL_DDR_MEM_P2P_HUGE, -1, ACL_DDR_MEM_P2P_HUGE},
      {ACL_DDR_MEM_P2P_NORMAL, -1, ACL_DDR_MEM_P2P_NORMAL},
      {ACL_HBM_MEM_P2P_HUGE, -1, -1},
      {ACL_HBM_MEM_P2P_NORMAL, -1, -1},
      {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G},
      {ACL_HBM_MEM_P2P_HUGE1G, -1, -1},
      {ACL_MEM_NORMAL, ACL_HBM_MEM_NORMAL, ACL_DDR_MEM_NORMAL},
      {ACL_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE},
      {ACL_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G},
      {ACL_MEM_P2P_NORMAL, ACL_HBM_MEM_P2P_NORMAL, ACL_DDR_MEM_P2P_NORMAL},
      {ACL_MEM_P2P_HUGE, ACL_HBM_MEM_P2P_HUGE, ACL_DDR_MEM_P2P_HUGE},
      {ACL_MEM_P2P_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_P2P_HUGE1G},
      {18, -1, -1},
      {-1, -1, -1},
  };
  for (const Case& entry : cases) {
    for (const auto type : {device, host}) {
      SCOPED_TRACE("attribute " + std::to_string(entry.asked) + " at " + std::to_string(type));
      aclrtPhysicalMemProp prop = PropOf(static_cast<aclrtMemAttr>(entry.asked), type, 0), told = {};
      const int expected = type == device ? entry.on_device : entry.on_host;
      size_t granularity = 77;
      const aclError answer = expected < 0 ? kOuter : ACL_SUCCESS;
      EXPECT_EQ(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity), answer);
      aclrtDrvMemHandle handle = nullptr;
      ASSERT_EQ(aclrtMallocPhysical(&handle, answer == kOuter ? kUnit : granularity, &prop, 0), answer);
      if (answer == kOuter) continue;
      EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &told), ACL_SUCCESS);
      EXPECT_EQ(told.memAttr, expected);
      EXPECT_EQ(told.handleType, ACL_MEM_HANDLE_TYPE_NONE);
      EXPECT_EQ(told.allocationType, ACL_MEM_ALLOCATION_TYPE_PINNED);
      EXPECT_EQ(told.location.type, type);
      EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
    }
  }
}

TEST_F(MallocPhysical, GranularityChecks) {
  size_t granularity = 77;
  struct GranularityArgs : Args {
    int option = ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED;
  };
  std::vector<bytes::Check<GranularityArgs>> checks = {
      {"prop NULL", kOuter, [](GranularityArgs& a) { a.null_prop = true; }},
      {"granularity NULL", kOuter, [](GranularityArgs& a) { a.null_handle = true; }},
  };
  for (auto& check : PropertyChecks<GranularityArgs>()) checks.push_back(check);
  checks.push_back({"option 2", kBad, [](GranularityArgs& a) { a.option = 2; }});
  auto call = [&](const GranularityArgs& a) {
    aclrtPhysicalMemProp prop = a.prop;
    return aclrtMemGetAllocationGranularity(a.null_prop ? nullptr : &prop, static_cast<aclrtMemGranularityOptions>(a.option),
                                            a.null_handle ? nullptr : &granularity);
  };
  bytes::ExpectCheckOrder("aclrtMemGetAllocationGranularity", GranularityArgs{}, checks, call, [&] { EXPECT_EQ(granularity, 77u); });
  EXPECT_EQ(granularity, kUnit);
  aclrtPhysicalMemProp large = PropOf(ACL_HBM_MEM_HUGE1G, ACL_MEM_LOCATION_TYPE_DEVICE, 0);
  EXPECT_EQ(aclrtMemGetAllocationGranularity(&large, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity), ACL_SUCCESS);
  EXPECT_EQ(granularity, kGiB);
  EXPECT_EQ(aclrtMemGetAllocationGranularity(&large, ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF, &granularity), kBad);
}

TEST_F(MallocPhysical, PropertiesOfNothing) {
  aclrtPhysicalMemProp prop = DeviceProp();
  Physical memory;
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(nullptr, &prop), kOuter);
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(memory.get(), nullptr), kOuter);
  bytes::ExpectText(kBad, {"handle"}, [&] { return aclrtMemGetAllocationPropertiesFromHandle(Nonsense(), &prop); });
}

TEST_F(MallocPhysical, TheDeviceIsCharged) {
  const size_t before = bytes::FreeDeviceBytes();
  Physical small, large(5 * kUnit), host(kUnit, HostProp());
  EXPECT_EQ(before - bytes::FreeDeviceBytes(), 6 * kUnit);
  small.Free();
  EXPECT_EQ(before - bytes::FreeDeviceBytes(), 5 * kUnit);
  large.Free();
  EXPECT_EQ(bytes::FreeDeviceBytes(), before);
}

TEST_F(MallocPhysical, WhatDoesNotFitGives207001) {
  size_t free_bytes = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total), ACL_SUCCESS);
  const aclrtPhysicalMemProp prop = DeviceProp();
  aclrtDrvMemHandle handle = Nonsense();
  bytes::ExpectText(ACL_ERROR_RT_MEMORY_ALLOCATION, {"does not fit", "device 0"},
                    [&] { return aclrtMallocPhysical(&handle, total / kUnit * kUnit + kUnit, &prop, 0); });
  EXPECT_EQ(handle, Nonsense());
  Physical most((free_bytes - kUnit) / kUnit * kUnit);
  void* block = Nonsense();
  EXPECT_EQ(aclrtMalloc(&block, 2 * kUnit, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(aclrtMallocPhysical(&handle, 2 * kUnit, &prop, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(handle, Nonsense());
  most.Free();
  EXPECT_EQ(bytes::FreeDeviceBytes(), free_bytes);
}

TEST_F(MallocPhysical, FreeTakesLiveHandlesOnly) {
  Physical memory;
  void* const was = memory.get();
  EXPECT_EQ(aclrtFreePhysical(nullptr), kOuter);
  EXPECT_EQ(aclrtFreePhysical(Nonsense()), kBad);
  memory.Free();
  bytes::ExpectText(kBad, {"handle", "freed"}, [&] { return aclrtFreePhysical(was); });
  Physical next;
  EXPECT_NE(next.get(), was) << "a stale handle must not open what came after it";
  EXPECT_EQ(aclrtFreePhysical(was), kBad);
}

TEST_F(MallocPhysicalBare, NumaMemoryNeedsAContext) {
  const aclrtPhysicalMemProp prop = PropOf(ACL_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST_NUMA, 0);
  aclrtDrvMemHandle handle = Nonsense();
  EXPECT_EQ(aclrtMallocPhysical(&handle, kUnit, &prop, 0), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(handle, Nonsense());
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocPhysical(&handle, kUnit, &prop, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  const aclrtPhysicalMemProp nowhere = PropOf(ACL_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST_NUMA, 5000);
  EXPECT_EQ(aclrtMallocPhysical(&handle, kUnit, &nowhere, 0), kBad);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(MallocPhysicalBare, DeviceAndHostMemoryNeedNone) {
  Physical device, host(kUnit, HostProp());
  Range range(kUnit);
  Mapped mapped(range.get(), device);
}

// The device's blocks end with it, and so does its physical memory; the host's stays.
TEST_F(MallocPhysicalBare, ClosingTheDeviceEndsItsMemory) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtPhysicalMemProp prop = DeviceProp();
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, kUnit, &prop, 0), ACL_SUCCESS);
  Range range(2 * kUnit);
  ASSERT_EQ(aclrtMapMem(range.get(), kUnit, 0, handle, 0), ACL_SUCCESS);
  Physical host(kUnit, HostProp()), elsewhere(kUnit, DeviceProp(1));
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), kBad);
  EXPECT_EQ(aclrtUnmapMem(range.get()), kBad);
  Mapped mapped(range.at(kUnit), elsewhere);
}

}  // namespace malloc_physical_test
}  // namespace ropeway_test::vmm
