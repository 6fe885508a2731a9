// Virtual memory: not there yet.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace virtual_memory_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr size_t kMiB = 1 << 20;
constexpr size_t kGiB = 1 << 30;

class RefusedMemory : public StreamTest {
 protected:
  void* const p_ = Nonsense();
  void* out_ = Nonsense();
  size_t size_ = 77;

  static aclrtPhysicalMemProp HugeOnDevice(uint32_t device) {
    aclrtPhysicalMemProp prop = {};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};
    return prop;
  }
};

TEST_F(RefusedMemory, ReserveIsRefused) {
  ExpectRefusals(
      {
          {"aclrtReserveMemAddress",
           [&] { return aclrtReserveMemAddress(&out_, 2 * kMiB, 0, nullptr, 0); },
           {{kNull, [&] { return aclrtReserveMemAddress(nullptr, 2 * kMiB, 0, nullptr, 0); }},
            {kNull, [&] { return aclrtReserveMemAddress(&out_, 0, 0, nullptr, 0); }},
            {kNull, [&] { return aclrtReserveMemAddress(&out_, 2 * kMiB, 0, nullptr, 2); }},
            {kRange, [&] { return aclrtReserveMemAddress(&out_, 2 * kMiB, 1, nullptr, 1); }}}},
          {"aclrtReserveMemAddressNoUCMemory",
           [&] { return aclrtReserveMemAddressNoUCMemory(&out_, kGiB, 0, p_, 0); },
           {{kNull, [&] { return aclrtReserveMemAddressNoUCMemory(nullptr, kGiB, 0, p_, 0); }},
            {kNull, [&] { return aclrtReserveMemAddressNoUCMemory(&out_, 0, 0, p_, 0); }},
            {kRange, [&] { return aclrtReserveMemAddressNoUCMemory(&out_, kGiB, 0, nullptr, 0); }},
            {kRange, [&] { return aclrtReserveMemAddressNoUCMemory(&out_, kGiB + 1, 0, p_, 0); }}}},
          {"aclrtReleaseMemAddress",
           [&] { return aclrtReleaseMemAddress(p_); },
           {{kNull, [&] { return aclrtReleaseMemAddress(nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(out_, Nonsense());
}

TEST_F(RefusedMemory, PhysicalMemoryIsRefusedBehindItsPropertyChecks) {
  aclrtPhysicalMemProp good = HugeOnDevice(0), no_device = HugeOnDevice(99);
  aclrtPhysicalMemProp posix = good, ddr = good, pageable = good, plain = good;
  posix.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  ddr.memAttr = ACL_DDR_MEM_HUGE;
  pageable.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  plain.memAttr = ACL_HBM_MEM;
  auto malloc_with = [&](aclrtPhysicalMemProp* prop) { return aclrtMallocPhysical(&out_, 2 * kMiB, prop, 0); };
  auto granularity = [&](aclrtPhysicalMemProp* prop, int option) {
    return aclrtMemGetAllocationGranularity(prop, static_cast<aclrtMemGranularityOptions>(option), &size_);
  };
  ExpectRefusals(
      {
          {"aclrtMallocPhysical",
           [&] { return malloc_with(&good); },
           {{kNull, [&] { return aclrtMallocPhysical(nullptr, 2 * kMiB, &good, 0); }},
            {kNull, [&] { return malloc_with(nullptr); }},
            {kNull, [&] { return aclrtMallocPhysical(&out_, 0, &good, 0); }},
            {kNull, [&] { return aclrtMallocPhysical(&out_, 2 * kMiB, &good, 1); }},
            {kNull, [&] { return malloc_with(&posix); }},
            {kNull, [&] { return malloc_with(&ddr); }},
            {kNull, [&] { return malloc_with(&pageable); }},
            {kNull, [&] { return malloc_with(&plain); }},
            {ACL_ERROR_RT_INVALID_DEVICEID, [&] { return malloc_with(&no_device); }}}},
          {"aclrtFreePhysical",
           [&] { return aclrtFreePhysical(p_); },
           {{kNull, [&] { return aclrtFreePhysical(nullptr); }}}},
          {"aclrtMemGetAllocationGranularity",
           [&] { return granularity(&good, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM); },
           {{kNull, [&] { return granularity(nullptr, 0); }},
            {kNull, [&] { return granularity(&plain, 0); }},
            {kRange, [&] { return granularity(&good, 2); }}}},
          {"aclrtMemRetainAllocationHandle",
           [&] { return aclrtMemRetainAllocationHandle(p_, &out_); },
           {{kNull, [&] { return aclrtMemRetainAllocationHandle(nullptr, &out_); }},
            {kNull, [&] { return aclrtMemRetainAllocationHandle(p_, nullptr); }}}},
          {"aclrtMemGetAllocationPropertiesFromHandle",
           [&] { return aclrtMemGetAllocationPropertiesFromHandle(p_, &good); },
           {{kNull, [&] { return aclrtMemGetAllocationPropertiesFromHandle(nullptr, &good); }},
            {kNull, [&] { return aclrtMemGetAllocationPropertiesFromHandle(p_, nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(out_, Nonsense());
  EXPECT_EQ(size_, 77u);
}

TEST_F(RefusedMemory, MappingIsRefused) {
  aclrtMemAccessDesc access = {};
  aclrtMemLocation location = {};
  uint64_t flag = 77;
  for (auto* map : {aclrtMapMem, aclrtMemMapNoAccess}) {
    const char* name = map == aclrtMapMem ? "aclrtMapMem" : "aclrtMemMapNoAccess";
    ExpectRefusals({{name,
                     [&] { return map(p_, 2 * kMiB, 0, p_, 0); },
                     {{kNull, [&] { return map(nullptr, 2 * kMiB, 0, p_, 0); }},
                      {kNull, [&] { return map(p_, 2 * kMiB, 0, nullptr, 0); }},
                      {kNull, [&] { return map(p_, 0, 0, p_, 0); }},
                      {kNull, [&] { return map(p_, 2 * kMiB, 1, p_, 1); }},
                      {kRange, [&] { return map(p_, 2 * kMiB, 1, p_, 0); }}}}},
                   LastError::kShows);
  }
  ExpectRefusals(
      {
          {"aclrtUnmapMem", [&] { return aclrtUnmapMem(p_); }, {{kNull, [&] { return aclrtUnmapMem(nullptr); }}}},
          {"aclrtMemSetAccess",
           [&] { return aclrtMemSetAccess(p_, 2 * kMiB, &access, 1); },
           {{kRange, [&] { return aclrtMemSetAccess(nullptr, 2 * kMiB, &access, 1); }},
            {kRange, [&] { return aclrtMemSetAccess(p_, 2 * kMiB, nullptr, 1); }},
            {kRange, [&] { return aclrtMemSetAccess(p_, 2 * kMiB, &access, 0); }}}},
          {"aclrtMemGetAccess",
           [&] { return aclrtMemGetAccess(p_, &location, &flag); },
           {{kNull, [&] { return aclrtMemGetAccess(nullptr, &location, &flag); }},
            {kNull, [&] { return aclrtMemGetAccess(p_, nullptr, &flag); }},
            {kNull, [&] { return aclrtMemGetAccess(p_, &location, nullptr); }}}},
          {"aclrtMemMapSelectedLink",
           [&] { return aclrtMemMapSelectedLink(p_, 2 * kMiB, p_, 1); },
           {{kNull, [&] { return aclrtMemMapSelectedLink(nullptr, 2 * kMiB, p_, 1); }},
            {kNull, [&] { return aclrtMemMapSelectedLink(p_, 0, p_, 1); }},
            {kNull, [&] { return aclrtMemMapSelectedLink(p_, 2 * kMiB, p_, 2); }}}},
          {"aclrtMemMapSetLink",
           [&] { return aclrtMemMapSetLink(p_, ACL_RT_MEM_ACCESS_LINK_HCCS); },
           {{kNull, [&] { return aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_HCCS); }},
            {kRange, [&] { return aclrtMemMapSetLink(p_, static_cast<aclrtMemLinkType>(4)); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(flag, 77u);
}

}  // namespace virtual_memory_test
}  // namespace ropeway_test
#endif
