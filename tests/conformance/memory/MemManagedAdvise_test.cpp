// aclrtMemManagedAdvise and the two calls that read it back: what holds for a range, whole, in part or not at all.
#include "tests/conformance/memory/managed_block.h"

namespace ropeway_test::bytes {
namespace mem_managed_advise_test {

using MemManagedAdvise = StreamTest;
using MemManagedGetAttr = StreamTest;
using MemManagedGetAttrs = StreamTest;

constexpr auto kMostly = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
constexpr auto kPreferred = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
constexpr auto kPreferredType = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE;
constexpr auto kPreferredId = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID;
constexpr auto kAccessedBy = ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
constexpr size_t kPart = 4096;

struct AdviseArgs : CallArgs {
  const void* ptr = nullptr;
  uint64_t size = kPart;
  aclrtMemManagedAdviseType advise = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
  aclrtMemManagedLocation location = kManagedOnDevice0;
};

TEST_F(MemManagedAdvise, ChecksInOrder) {
  ManagedBuffer block(kPart);
  DeviceBuffer device(kPart);
  AdviseArgs valid;
  valid.ptr = block.get();
  ExpectCheckOrder<AdviseArgs>(
      "aclrtMemManagedAdvise", valid,
      {{"ptr NULL", ACL_ERROR_INVALID_PARAM, [](AdviseArgs& args) { args.ptr = nullptr; }},
       {"size 0", ACL_ERROR_INVALID_PARAM, [](AdviseArgs& args) { args.size = 0; }},
       {"advise 6", ACL_ERROR_RT_PARAM_INVALID, [](AdviseArgs& args) { args.advise = static_cast<aclrtMemManagedAdviseType>(6); }},
       {"device 99", ACL_ERROR_RT_PARAM_INVALID, [](AdviseArgs& args) { args.location.id = 99; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](AdviseArgs& args) { args.without_context = true; }},
       {"device memory", ACL_ERROR_RT_PARAM_INVALID, [&](AdviseArgs& args) { args.ptr = device.get(); }},
       {"past the end", ACL_ERROR_RT_PARAM_INVALID, [](AdviseArgs& args) { args.size = 2 * kMiB + 1; }}},
      [](const AdviseArgs& args) { return aclrtMemManagedAdvise(args.ptr, args.size, args.advise, args.location); },
      [&] { EXPECT_EQ(ManagedAttribute(kPreferred, block.get(), kPart), -2); });
  EXPECT_EQ(ManagedAttribute(kPreferred, block.get(), kPart), 0);
}

TEST_F(MemManagedAdvise, RefusesPlacesThatAreNone) {
  ManagedBuffer block(kPart);
  for (const aclrtMemManagedLocation& place :
       {aclrtMemManagedLocation{ACL_MEM_LOCATIONTYPE_INVALID, 0}, aclrtMemManagedLocation{ACL_MEM_LOCATIONTYPE_HOST_NUMA, -1},
        aclrtMemManagedLocation{static_cast<aclrtMemManagedLocationType>(5), 0},
        aclrtMemManagedLocation{ACL_MEM_LOCATIONTYPE_DEVICE, -1}}) {
    for (auto advise : {ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, ACL_MEM_ADVISE_SET_ACCESSED_BY, ACL_MEM_ADVISE_UNSET_ACCESSED_BY})
      EXPECT_EQ(aclrtMemManagedAdvise(block.get(), kPart, advise, place), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtMemManagedAdvise(block.get(), kPart, ACL_MEM_ADVISE_SET_READ_MOSTLY, place), ACL_SUCCESS) << "ignored there";
  }
  const aclrtMemManagedLocation none = {ACL_MEM_LOCATIONTYPE_INVALID, 0};
  EXPECT_EQ(aclrtMemManagedAdvise(block.get(), kPart, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, none), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemManagedAdvise(block.get(), kPart, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, none), ACL_SUCCESS);
}

TEST_F(MemManagedAdvise, ReadMostlyHoldsWhenItHoldsEverywhere) {
  ManagedBuffer block(3 * kPart);
  uint8_t* const p = block.get();
  EXPECT_EQ(ManagedAttribute(kMostly, p, 3 * kPart), 0);
  ASSERT_EQ(aclrtMemManagedAdvise(p + kPart, kPart, ACL_MEM_ADVISE_SET_READ_MOSTLY, {}), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kMostly, p + kPart, kPart), 1);
  EXPECT_EQ(ManagedAttribute(kMostly, p + kPart + 10, 20), 1);
  EXPECT_EQ(ManagedAttribute(kMostly, p, 3 * kPart), 0);
  EXPECT_EQ(ManagedAttribute(kMostly, p + kPart - 1, 2), 0);
  EXPECT_EQ(ManagedAttribute(kMostly, p + 2 * kPart - 1, 2), 0);
  ASSERT_EQ(aclrtMemManagedAdvise(p, 3 * kPart, ACL_MEM_ADVISE_SET_READ_MOSTLY, {}), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kMostly, p, 3 * kPart), 1);
  ASSERT_EQ(aclrtMemManagedAdvise(p + 5, 1, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, {}), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kMostly, p, 3 * kPart), 0);
  EXPECT_EQ(ManagedAttribute(kMostly, p + 6, kPart), 1);
}

TEST_F(MemManagedAdvise, PreferredLocationIsNoneWhenItDiffers) {
  ManagedBuffer block(2 * kPart);
  uint8_t* const p = block.get();
  EXPECT_EQ(ManagedAttribute(kPreferred, p, kPart), -2);
  EXPECT_EQ(ManagedAttribute(kPreferredType, p, kPart), ACL_MEM_LOCATIONTYPE_INVALID);
  EXPECT_EQ(ManagedAttribute(kPreferredId, p, kPart), -2);
  ASSERT_EQ(aclrtMemManagedAdvise(p, kPart, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, kManagedOnDevice1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemManagedAdvise(p + kPart, kPart, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, kManagedOnHost), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kPreferred, p, kPart), 1);
  EXPECT_EQ(ManagedAttribute(kPreferredType, p, kPart), ACL_MEM_LOCATIONTYPE_DEVICE);
  EXPECT_EQ(ManagedAttribute(kPreferredId, p, kPart), 1);
  EXPECT_EQ(ManagedAttribute(kPreferred, p + kPart, kPart), -1);
  EXPECT_EQ(ManagedAttribute(kPreferredType, p + kPart, kPart), ACL_MEM_LOCATIONTYPE_HOST);
  EXPECT_EQ(ManagedAttribute(kPreferred, p, 2 * kPart), -2) << "mixed";
  EXPECT_EQ(ManagedAttribute(kPreferredType, p, 2 * kPart), ACL_MEM_LOCATIONTYPE_INVALID);
  ASSERT_EQ(aclrtMemManagedAdvise(p, 2 * kPart, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, kManagedOnHost), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kPreferred, p, kPart), -2);
}

TEST_F(MemManagedAdvise, NumaNodesArePlaces) {
  ManagedBuffer block(kPart);
  const aclrtMemManagedLocation node = {ACL_MEM_LOCATIONTYPE_HOST_NUMA, 3}, mine = {ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, -7};
  ASSERT_EQ(aclrtMemManagedAdvise(block.get(), kPart, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, node), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kPreferredType, block.get(), kPart), ACL_MEM_LOCATIONTYPE_HOST_NUMA);
  EXPECT_EQ(ManagedAttribute(kPreferred, block.get(), kPart), 3);
  ASSERT_EQ(aclrtMemManagedAdvise(block.get(), kPart, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, mine), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kPreferredType, block.get(), kPart), ACL_MEM_LOCATIONTYPE_HOST_NUMA);
  EXPECT_GE(ManagedAttribute(kPreferredId, block.get(), kPart), 0);
}

std::vector<int32_t> AccessedBy(const void* ptr, size_t size, size_t room) {
  std::vector<int32_t> ids(room, 77);
  EXPECT_EQ(aclrtMemManagedGetAttr(kAccessedBy, ptr, size, ids.data(), room * sizeof(int32_t)), ACL_SUCCESS);
  return ids;
}

TEST_F(MemManagedAdvise, AccessedByIsAList) {
  using List = std::vector<int32_t>;
  ManagedBuffer block(2 * kPart);
  uint8_t* const p = block.get();
  EXPECT_EQ(AccessedBy(p, kPart, 2), (List{-2, -2}));
  ASSERT_EQ(aclrtMemManagedAdvise(p, 2 * kPart, ACL_MEM_ADVISE_SET_ACCESSED_BY, kManagedOnDevice1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemManagedAdvise(p, kPart, ACL_MEM_ADVISE_SET_ACCESSED_BY, kManagedOnDevice0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemManagedAdvise(p, kPart, ACL_MEM_ADVISE_SET_ACCESSED_BY, kManagedOnHost), ACL_SUCCESS);
  EXPECT_EQ(AccessedBy(p, kPart, 4), (List{-1, 0, 1, -2}));
  EXPECT_EQ(AccessedBy(p, kPart, 2), (List{-1, 0})) << "as many as there is room for";
  EXPECT_EQ(AccessedBy(p, 2 * kPart, 2), (List{1, -2})) << "only who accesses all of it";
  ASSERT_EQ(aclrtMemManagedAdvise(p, kPart, ACL_MEM_ADVISE_UNSET_ACCESSED_BY, kManagedOnHost), ACL_SUCCESS);
  EXPECT_EQ(AccessedBy(p, kPart, 3), (List{0, 1, -2}));
}

TEST_F(MemManagedAdvise, EndsWithTheBlock) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&block, kPart, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemManagedAdvise(block, kPart, ACL_MEM_ADVISE_SET_READ_MOSTLY, {}), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  int32_t value = 77;
  EXPECT_EQ(aclrtMemManagedGetAttr(kMostly, block, kPart, &value, 4), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(value, 77);
  ManagedBuffer next(kPart);
  EXPECT_EQ(ManagedAttribute(kMostly, next.get(), kPart), 0) << "wherever it lies";
}

// --- Reading ------------------------------------------------------------------------------------------------------------

struct ReadArgs : CallArgs {
  aclrtMemManagedRangeAttribute attribute = kPreferred;
  const void* ptr = nullptr;
  size_t size = kPart;
  void* data = nullptr;
  size_t data_size = 4;
};

TEST_F(MemManagedGetAttr, ChecksInOrder) {
  ManagedBuffer block(kPart);
  PinnedBuffer pinned(kPart);
  int32_t data = 77;
  ReadArgs valid;
  valid.ptr = block.get();
  valid.data = &data;
  ExpectCheckOrder<ReadArgs>(
      "aclrtMemManagedGetAttr", valid,
      {{"ptr NULL", ACL_ERROR_INVALID_PARAM, [](ReadArgs& args) { args.ptr = nullptr; }},
       {"data NULL", ACL_ERROR_INVALID_PARAM, [](ReadArgs& args) { args.data = nullptr; }},
       {"size 0", ACL_ERROR_INVALID_PARAM, [](ReadArgs& args) { args.size = 0; }},
       {"attribute 0", ACL_ERROR_RT_PARAM_INVALID, [](ReadArgs& args) { args.attribute = static_cast<aclrtMemManagedRangeAttribute>(0); }},
       {"attribute 9", ACL_ERROR_RT_PARAM_INVALID, [](ReadArgs& args) { args.attribute = static_cast<aclrtMemManagedRangeAttribute>(9); }},
       {"data size 3", ACL_ERROR_RT_PARAM_INVALID, [](ReadArgs& args) { args.data_size = 3; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](ReadArgs& args) { args.without_context = true; }},
       {"pinned memory", ACL_ERROR_RT_PARAM_INVALID, [&](ReadArgs& args) { args.ptr = pinned.get(); }},
       {"past the end", ACL_ERROR_RT_PARAM_INVALID, [](ReadArgs& args) { args.size = SIZE_MAX; }}},
      [](const ReadArgs& args) { return aclrtMemManagedGetAttr(args.attribute, args.ptr, args.size, args.data, args.data_size); },
      [&] { EXPECT_EQ(data, 77); });
  EXPECT_EQ(data, -2);
}

TEST_F(MemManagedGetAttr, SizeOfTheAnswerMustFitTheAttribute) {
  ManagedBuffer block(kPart);
  int32_t data[4] = {77, 77, 77, 77};
  for (size_t size : {0, 2, 6, 7})
    EXPECT_EQ(aclrtMemManagedGetAttr(kAccessedBy, block.get(), kPart, data, size), ACL_ERROR_RT_PARAM_INVALID) << size;
  for (size_t size : {0, 3, 8})
    EXPECT_EQ(aclrtMemManagedGetAttr(kMostly, block.get(), kPart, data, size), ACL_ERROR_RT_PARAM_INVALID) << size;
  EXPECT_EQ(data[0], 77);
  EXPECT_EQ(aclrtMemManagedGetAttr(kAccessedBy, block.get(), kPart, data, 12), ACL_SUCCESS);
  EXPECT_EQ(data[2], -2);
  EXPECT_EQ(data[3], 77) << "written past its end";
}

struct ReadsArgs : CallArgs {
  aclrtMemManagedRangeAttribute* attributes = nullptr;
  size_t count = 2;
  const void* ptr = nullptr;
  size_t size = kPart;
  void** data = nullptr;
  size_t* sizes = nullptr;
};

TEST_F(MemManagedGetAttrs, ChecksInOrder) {
  ManagedBuffer block(kPart);
  int32_t one = 77, list[2] = {77, 77}, local = 0;
  aclrtMemManagedRangeAttribute attributes[] = {kPreferred, kAccessedBy};
  aclrtMemManagedRangeAttribute unknown[] = {kPreferred, static_cast<aclrtMemManagedRangeAttribute>(9)};
  void* data[] = {&one, list};
  void* hole[] = {&one, nullptr};
  size_t sizes[] = {4, 8}, odd_sizes[] = {4, 7};
  ReadsArgs valid;
  valid.attributes = attributes;
  valid.ptr = block.get();
  valid.data = data;
  valid.sizes = sizes;
  ExpectCheckOrder<ReadsArgs>(
      "aclrtMemManagedGetAttrs", valid,
      {{"attributes NULL", ACL_ERROR_INVALID_PARAM, [](ReadsArgs& args) { args.attributes = nullptr; }},
       {"ptr NULL", ACL_ERROR_INVALID_PARAM, [](ReadsArgs& args) { args.ptr = nullptr; }},
       {"data NULL", ACL_ERROR_INVALID_PARAM, [](ReadsArgs& args) { args.data = nullptr; }},
       {"dataSizes NULL", ACL_ERROR_INVALID_PARAM, [](ReadsArgs& args) { args.sizes = nullptr; }},
       {"no attribute", ACL_ERROR_INVALID_PARAM, [](ReadsArgs& args) { args.count = 0; }},
       {"size 0", ACL_ERROR_INVALID_PARAM, [](ReadsArgs& args) { args.size = 0; }},
       {"data[1] NULL", ACL_ERROR_INVALID_PARAM, [&](ReadsArgs& args) { args.data = hole; }},
       {"attributes[1] is 9", ACL_ERROR_RT_PARAM_INVALID, [&](ReadsArgs& args) { args.attributes = unknown; }},
       {"dataSizes[1] is 7", ACL_ERROR_RT_PARAM_INVALID, [&](ReadsArgs& args) { args.sizes = odd_sizes; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](ReadsArgs& args) { args.without_context = true; }},
       {"pageable memory", ACL_ERROR_RT_PARAM_INVALID, [&](ReadsArgs& args) { args.ptr = &local; }}},
      [](const ReadsArgs& args) {
        return aclrtMemManagedGetAttrs(args.attributes, args.count, args.ptr, args.size, args.data, args.sizes);
      },
      [&] { EXPECT_TRUE(one == 77 && list[0] == 77 && list[1] == 77); });
  EXPECT_EQ(one, -2);
  EXPECT_EQ(list[1], -2);
}

}  // namespace mem_managed_advise_test
}  // namespace ropeway_test::bytes
