// aclrtMemManagedPrefetchAsync and its batch form: checks, and the location that the attributes report afterwards.
#include "tests/conformance/memory/managed_block.h"

namespace ropeway_test::bytes {
namespace mem_managed_prefetch_test {

using MemManagedPrefetch = StreamTest;
using MemManagedPrefetchBatch = StreamTest;

constexpr auto kLast = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
constexpr auto kLastType = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
constexpr auto kLastId = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID;
constexpr size_t kPart = 4096;

struct SingleArgs : CallArgs {
  const void* ptr = nullptr;
  size_t size = kPart;
  aclrtMemManagedLocation location = kManagedOnDevice0;
  uint32_t flags = 0;
  aclrtStream stream = nullptr;
};

TEST_F(MemManagedPrefetch, ChecksInOrder) {
  ManagedBuffer block(kPart);
  DeviceBuffer device(kPart);
  BadStreams bad;
  ForeignStream foreign;
  SingleArgs valid;
  valid.ptr = block.get();
  valid.stream = stream_;
  ExpectCheckOrder<SingleArgs>(
      "aclrtMemManagedPrefetchAsync", valid,
      {{"ptr NULL", ACL_ERROR_INVALID_PARAM, [](SingleArgs& args) { args.ptr = nullptr; }},
       {"size 0", ACL_ERROR_INVALID_PARAM, [](SingleArgs& args) { args.size = 0; }},
       {"flags 1", ACL_ERROR_INVALID_PARAM, [](SingleArgs& args) { args.flags = 1; }},
       {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](SingleArgs& args) { args.stream = bad.destroyed(); }},
       {"device 99", ACL_ERROR_RT_PARAM_INVALID,
        [](SingleArgs& args) {
          args.location = {ACL_MEM_LOCATIONTYPE_DEVICE, 99};
        }},
       {"no place", ACL_ERROR_RT_PARAM_INVALID,
        [](SingleArgs& args) {
          args.location = {ACL_MEM_LOCATIONTYPE_INVALID, 0};
        }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](SingleArgs& args) { args.without_context = true; }},
       {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](SingleArgs& args) { args.stream = foreign.get(); }},
       {"device memory", ACL_ERROR_RT_PARAM_INVALID, [&](SingleArgs& args) { args.ptr = device.get(); }},
       {"past the end", ACL_ERROR_RT_PARAM_INVALID, [](SingleArgs& args) { args.size = 2 * kMiB + 1; }}},
      [](const SingleArgs& args) { return aclrtMemManagedPrefetchAsync(args.ptr, args.size, args.location, args.flags, args.stream); },
      [&] { EXPECT_EQ(ManagedAttribute(kLast, block.get(), kPart), -2); });
  EXPECT_EQ(ManagedAttribute(kLast, block.get(), kPart), 0);
}

TEST_F(MemManagedPrefetch, LastLocationIsReported) {
  ManagedBuffer block(2 * kPart);
  uint8_t* const p = block.get();
  EXPECT_EQ(ManagedAttribute(kLastType, p, kPart), ACL_MEM_LOCATIONTYPE_INVALID);
  ASSERT_EQ(aclrtMemManagedPrefetchAsync(p, 2 * kPart, kManagedOnDevice1, 0, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemManagedPrefetchAsync(p, kPart, kManagedOnHost, 0, nullptr), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kLast, p, kPart), -1);
  EXPECT_EQ(ManagedAttribute(kLastType, p, kPart), ACL_MEM_LOCATIONTYPE_HOST);
  EXPECT_EQ(ManagedAttribute(kLast, p + kPart, kPart), 1);
  EXPECT_EQ(ManagedAttribute(kLastId, p + kPart, kPart), 1);
  EXPECT_EQ(ManagedAttribute(kLast, p, 2 * kPart), -2) << "mixed";
}

TEST_F(MemManagedPrefetch, TakesItsPlaceInTheOrderAndHarmsNoByte) {
  ManagedBuffer block(kPart);
  std::memset(block.get(), 7, kPart);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemManagedPrefetchAsync(block.get(), kPart, kManagedOnDevice0, 0, stream_), ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(block.get(), kPart), std::vector<uint8_t>(kPart, 7));
}

// --- Batch --------------------------------------------------------------------------------------------------------------

struct BatchArgs : CallArgs {
  const void** ptrs = nullptr;
  size_t* sizes = nullptr;
  size_t count = 3;
  aclrtMemManagedLocation* places = nullptr;
  size_t* indexes = nullptr;
  size_t runs = 2;
  uint64_t flags = 0;
  aclrtStream stream = nullptr;
};

aclError Call(const BatchArgs& args) {
  return aclrtMemManagedPrefetchBatchAsync(args.ptrs, args.sizes, args.count, args.places, args.indexes, args.runs, args.flags,
                                           args.stream);
}

// Three ranges, the first to one place and the other two to another.
struct Batch {
  explicit Batch(const ManagedBuffer& block, aclrtStream stream) : ptrs{block.get(), block.get() + kPart, block.get() + 2 * kPart} {
    args.ptrs = ptrs;
    args.sizes = sizes;
    args.places = places;
    args.indexes = indexes;
    args.stream = stream;
  }
  const void* ptrs[3];
  size_t sizes[3] = {kPart, kPart, kPart};
  aclrtMemManagedLocation places[2] = {kManagedOnDevice1, kManagedOnHost};
  size_t indexes[2] = {0, 1};
  BatchArgs args;
};

TEST_F(MemManagedPrefetchBatch, ChecksInOrder) {
  using Args = BatchArgs;
  ManagedBuffer block(3 * kPart);
  DeviceBuffer device(kPart);
  BadStreams bad;
  ForeignStream foreign;
  Batch batch(block, stream_);
  size_t late[] = {1, 2}, level[] = {0, 0}, far[] = {0, 3}, empty[] = {kPart, 0, kPart}, long_sizes[] = {kPart, kPart, 2 * kMiB};
  const void* holes[] = {block.get(), nullptr, block.get()};
  const void* mixed[] = {block.get(), block.get(), device.get()};
  aclrtMemManagedLocation nowhere[] = {kManagedOnHost, {ACL_MEM_LOCATIONTYPE_DEVICE, -1}};
  ExpectCheckOrder<Args>("aclrtMemManagedPrefetchBatchAsync", batch.args,
                         {{"ptrs NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.ptrs = nullptr; }},
                          {"sizes NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.sizes = nullptr; }},
                          {"prefetchLocs NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.places = nullptr; }},
                          {"prefetchLocIdxs NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.indexes = nullptr; }},
                          {"count 0", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.count = 0; }},
                          {"no location", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.runs = 0; }},
                          {"flags 1", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.flags = 1; }},
                          {"more locations than ranges", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.runs = args.count + 1; }},
                          {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& args) { args.stream = bad.destroyed(); }},
                          {"first index 1", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.indexes = late; }},
                          {"index that does not grow", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.indexes = level; }},
                          {"index past the end", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.indexes = far; }},
                          {"device -1", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.places = nowhere; }},
                          {"a NULL among ptrs", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.ptrs = holes; }},
                          {"a 0 among sizes", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.sizes = empty; }},
                          {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& args) { args.without_context = true; }},
                          {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& args) { args.stream = foreign.get(); }},
                          {"device memory among ptrs", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.ptrs = mixed; }},
                          {"past the end", ACL_ERROR_RT_PARAM_INVALID, [&](Args& args) { args.sizes = long_sizes; }}},
                         Call,
                         [&] { EXPECT_EQ(ManagedAttribute(kLast, block.get(), kPart), -2) << "a refused batch has no effect at all"; });
  EXPECT_EQ(ManagedAttribute(kLast, block.get(), kPart), 1);
}

TEST_F(MemManagedPrefetchBatch, EachRunGoesToItsPlace) {
  ManagedBuffer block(3 * kPart);
  Batch batch(block, stream_);
  ASSERT_EQ(Call(batch.args), ACL_SUCCESS);
  EXPECT_EQ(ManagedAttribute(kLast, block.get(), kPart), 1);
  EXPECT_EQ(ManagedAttribute(kLast, block.get() + kPart, 2 * kPart), -1);
  EXPECT_EQ(ManagedAttribute(kLastType, block.get() + kPart, 2 * kPart), ACL_MEM_LOCATIONTYPE_HOST);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

}  // namespace mem_managed_prefetch_test
}  // namespace ropeway_test::bytes
