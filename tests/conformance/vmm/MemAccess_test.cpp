// aclrtMemSetAccess and aclrtMemGetAccess.
#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test::vmm {
namespace mem_access_test {

class MemAccess : public DeviceTest {
 protected:
  static constexpr aclrtMemLocationType kHost = ACL_MEM_LOCATION_TYPE_HOST, kDevice = ACL_MEM_LOCATION_TYPE_DEVICE;
  static uint64_t FlagAt(void* address, aclrtMemLocationType type, uint32_t id) {
    aclrtMemLocation location = {id, type};
    uint64_t flag = 77;
    EXPECT_EQ(aclrtMemGetAccess(address, &location, &flag), ACL_SUCCESS) << TakeErrorText();
    return flag;
  }
};

struct Args : bytes::CallArgs {
  void* at = nullptr;
  size_t size = kUnit;
  std::vector<aclrtMemAccessDesc> desc = {ReadWrite(ACL_MEM_LOCATION_TYPE_DEVICE, 0), ReadWrite(ACL_MEM_LOCATION_TYPE_HOST, 0)};
  bool null_desc = false;
  size_t count = 2;
};

TEST_F(MemAccess, EarlierCheckWins) {
  Range range(2 * kUnit);
  Physical memory;
  ASSERT_EQ(aclrtMemMapNoAccess(range.get(), kUnit, 0, memory.get(), 0), ACL_SUCCESS);
  Args valid;
  valid.at = range.get();
  if (!EngineHasHostViews()) valid.count = 1;
  const std::vector<bytes::Check<Args>> checks = {
      {"virPtr NULL", kBad, [](Args& a) { a.at = nullptr; }},
      {"desc NULL", kBad, [](Args& a) { a.null_desc = true; }},
      {"count 0", kBad, [](Args& a) { a.count = 0; }},
      {"read only", kBad, [](Args& a) { a.desc[0].flags = ACL_RT_MEM_ACCESS_FLAGS_READ; }},
      {"NUMA location", kBad, [](Args& a) { a.desc[0].location.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA; }},
      {"device id", ACL_ERROR_RT_INVALID_DEVICEID,
       [](Args& a) {
         if (a.desc[0].location.type == ACL_MEM_LOCATION_TYPE_DEVICE) a.desc[0].location.id = 99;
       }},
      {"another size", kBad, [](Args& a) { a.size = 2 * kUnit; }},
      {"not mapped", kBad, [&](Args& a) { a.at = range.at(kUnit); }},
  };
  auto call = [&](const Args& a) {
    auto desc = a.desc;
    return aclrtMemSetAccess(a.at, a.size, a.null_desc ? nullptr : desc.data(), a.count);
  };
  bytes::ExpectCheckOrder("aclrtMemSetAccess", valid, checks, call, [&] {
    EXPECT_FALSE(IsThere(range.get()));
    EXPECT_EQ(FlagAt(range.get(), kHost, 0), 0u);
  });
  EXPECT_TRUE(IsThere(range.get()));
  EXPECT_EQ(aclrtUnmapMem(range.get()), ACL_SUCCESS);
}

TEST_F(MemAccess, ABadEntryBehindGoodOnesChangesNothing) {
  Range range(kUnit);
  Physical memory;
  ASSERT_EQ(aclrtMemMapNoAccess(range.get(), kUnit, 0, memory.get(), 0), ACL_SUCCESS);
  aclrtMemAccessDesc desc[] = {ReadWrite(kDevice, 0), ReadWrite(kHost, 0)};
  desc[1].flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
  bytes::ExpectText(kBad, {"desc[1].flags"}, [&] { return aclrtMemSetAccess(range.get(), kUnit, desc, 2); });
  EXPECT_EQ(FlagAt(range.get(), kDevice, 0), 0u);
  EXPECT_FALSE(IsThere(range.get()));
  EXPECT_EQ(aclrtUnmapMem(range.get()), ACL_SUCCESS);
}

TEST_F(MemAccess, MapGivesItToTheOwner) {
  Range range(kUnit), host_range(kUnit);
  Physical memory, host_memory(kUnit, HostProp());
  Mapped mapped(range.get(), memory), host(host_range.get(), host_memory);
  EXPECT_EQ(FlagAt(range.get(), kDevice, 0), 3u);
  EXPECT_EQ(FlagAt(range.at(kUnit - 1), kDevice, 0), 3u) << "any address of the mapping";
  EXPECT_EQ(FlagAt(range.get(), kDevice, 1), 0u);
  EXPECT_EQ(FlagAt(range.get(), kHost, 0), 0u);
  EXPECT_EQ(FlagAt(host_range.get(), kHost, 0), 3u);
  EXPECT_EQ(FlagAt(host_range.get(), kDevice, 0), 0u);
}

TEST_F(MemAccess, SetAddsToWhatIsThere) {
  Range range(kUnit);
  Physical memory;
  Mapped mapped(range.get(), memory);
  aclrtMemAccessDesc other = ReadWrite(kDevice, 1);
  ASSERT_EQ(aclrtMemSetAccess(range.get(), kUnit, &other, 1), ACL_SUCCESS);
  EXPECT_EQ(FlagAt(range.get(), kDevice, 0), 3u);
  EXPECT_EQ(FlagAt(range.get(), kDevice, 1), 3u);
  EXPECT_EQ(FlagAt(range.get(), kHost, 0), 0u);
  EXPECT_EQ(aclrtMemSetAccess(range.get(), kUnit, &other, 1), ACL_SUCCESS) << "again";
}

TEST_F(MemAccess, WithoutAccessThereIsNoBlock) {
  Range range(2 * kUnit);
  Physical memory, next;
  ASSERT_EQ(aclrtMemMapNoAccess(range.get(), kUnit, 0, memory.get(), 0), ACL_SUCCESS);
  Mapped mapped(range.at(kUnit), next);
  aclrtPtrAttributes attributes = {};
  size_t size = 0;
  EXPECT_EQ(aclrtPointerGetAttributes(range.get(), &attributes), kBad);
  EXPECT_EQ(aclrtMemGetAddressRange(range.get(), nullptr, &size), kBad);
  EXPECT_EQ(aclrtMemset(range.get(), 16, 1, 16), kBad);
  EXPECT_EQ(aclrtMapMem(range.get(), kUnit, 0, next.get(), 0), kBad) << "but it is mapped";
  EXPECT_EQ(FlagAt(range.get(), kDevice, 0), 0u);
  aclrtMemAccessDesc own = ReadWrite(kDevice, 0);
  ASSERT_EQ(aclrtMemSetAccess(range.get(), kUnit, &own, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(range.at(kUnit - 8), 16, 1, 16), ACL_SUCCESS) << "now it joins its neighbour";
  EXPECT_EQ(aclrtUnmapMem(range.get()), ACL_SUCCESS);
}

TEST_F(MemAccess, WhereTheHostCannotUseItNothingChanges) {
  if (EngineHasHostViews()) GTEST_SKIP() << "here it can";
  Range range(kUnit);
  Physical memory;
  Mapped mapped(range.get(), memory);
  aclrtMemAccessDesc host = ReadWrite(kHost, 0);
  EXPECT_EQ(aclrtMemSetAccess(range.get(), kUnit, &host, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_NE(TakeErrorText().find("NVIDIA"), std::string::npos);
  EXPECT_EQ(FlagAt(range.get(), kHost, 0), 0u);
  WriteAt(range.at(3), Pattern(9000, 4));
  EXPECT_EQ(ReadAt(range.at(3), 9000), Pattern(9000, 4));
}

TEST_F(MemAccess, TheHostCanUseWhatItWasGiven) {
  if (!EngineHasHostViews()) GTEST_SKIP() << "no host code reaches the memory of a GPU";
  Range range(2 * kUnit);
  Physical memory(2 * kUnit);
  Mapped mapped(range.get(), memory);
  const auto data = Pattern(9000, 4);
  WriteAt(range.at(kUnit - 100), data);
  aclrtMemAccessDesc host = ReadWrite(kHost, 0);
  ASSERT_EQ(aclrtMemSetAccess(range.get(), 2 * kUnit, &host, 1), ACL_SUCCESS);
  EXPECT_EQ(bytes::BytesAt(range.at(kUnit - 100), data.size()), data);
  std::memset(range.at(5), 0x5A, 7);
  EXPECT_EQ(ReadAt(range.at(5), 7), std::vector<uint8_t>(7, 0x5A));
  aclrtPtrAttributes attributes = {};
  ASSERT_EQ(aclrtPointerGetAttributes(range.get(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, kDevice) << "it stays the device's";
}

TEST_F(MemAccess, GetChecks) {
  Range range(2 * kUnit);
  Physical memory;
  Mapped mapped(range.get(), memory);
  aclrtMemLocation location = {0, kDevice};
  uint64_t flag = 77;
  EXPECT_EQ(aclrtMemGetAccess(nullptr, &location, &flag), kOuter);
  EXPECT_EQ(aclrtMemGetAccess(range.get(), nullptr, &flag), kOuter);
  EXPECT_EQ(aclrtMemGetAccess(range.get(), &location, nullptr), kOuter);
  location.id = 99;
  EXPECT_EQ(aclrtMemGetAccess(range.get(), &location, &flag), ACL_ERROR_RT_INVALID_DEVICEID);
  location = {0, ACL_MEM_LOCATION_TYPE_MANAGED};
  EXPECT_EQ(aclrtMemGetAccess(range.get(), &location, &flag), kBad);
  location = {0, kDevice};
  EXPECT_EQ(aclrtMemGetAccess(range.at(kUnit), &location, &flag), kBad);
  EXPECT_EQ(aclrtMemGetAccess(Nonsense(), &location, &flag), kBad);
  EXPECT_EQ(flag, 77u);
}

}  // namespace mem_access_test
}  // namespace ropeway_test::vmm
