// aclrtMemcpyBatchAsync and aclrtMemcpyBatchAsyncV2: the order of the checks, streams and contexts, and what only the
// async form does. Rules of all four functions are in MemcpyBatchChecks_test.cpp.
#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_async_test {

using MemcpyBatchAsync = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchAsync, ::testing::Values(kBatchAsync, kBatchAsyncV2), FormName);

// The table of rules/batches.md 2. What goes wrong with an item goes wrong with the first: nothing was issued before it.
TEST_P(MemcpyBatchAsync, EarlierCheckWins) {
  constexpr aclError kRefused = ACL_ERROR_RT_PARAM_INVALID;
  using Call = BatchCall;
  Places places(1024);
  BadStreams bad;
  ForeignStream foreign;
  Call valid;
  valid.batch = ToDeviceFrom(places, kPinned, 3);
  valid.batch.attrs.resize(4, valid.batch.attrs[0]);
  valid.batch.indexes = {0, 1, 2, 3};
  valid.stream = stream_;
  auto lines = OuterBatchLines(GetParam());
  const std::vector<Check<Call>> inner = {
      Line("destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, kNoItem, [&](Call& c) { c.stream = bad.destroyed(); }),
      Line("more attributes than items", kRefused, kNoItem, [](Call& c) { c.batch.num_attrs = 4; }),
      Line("first index not 0", kRefused, kNoItem, [](Call& c) { c.batch.indexes[0] = 1; }),
      Line("no context", ACL_ERROR_RT_CONTEXT_NULL, kNoItem, [](Call& c) { c.without_context = true; }),
      Line("item of size 0", kRefused, 0, [](Call& c) { c.batch.sizes[0] = 0; }),
      Line("src of an item NULL", kRefused, 0, [](Call& c) { c.batch.srcs[0] = nullptr; }),
      Line("dst of an item NULL", kRefused, 0, [](Call& c) { c.batch.dsts[0] = nullptr; }),
      Line("past the block", kRefused, 0, [](Call& c) { c.batch.sizes[0] = c.batch.dest_maxs[0] = 4096; }),
      Line("dst elsewhere", kRefused, 0, [](Call& c) { c.batch.attrs[0].dstLoc.id = 99; }),
      Line("src elsewhere", kRefused, 0, [](Call& c) { c.batch.attrs[0].srcLoc = DeviceLocation(); }),
      Line("two host sides", kRefused, 0,
           [&](Call& c) {
             c.batch.dsts[0] = places.at(kRegistered, 0);
             c.batch.attrs[0].dstLoc = HostLocation();
           }),
      Line("foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, kNoItem, [&](Call& c) { c.stream = foreign.get(); }),
  };
  lines.insert(lines.end(), inner.begin(), inner.end());
  ExpectBatchCheckOrder(GetParam(), valid, lines, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.get()), ACL_SUCCESS);
    places.ExpectAsApplied(kDevice);
  });
  Finish();
  places.Apply(valid.batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchAsync, HandleThatIsNoStreamIsRejected) {
  Places places(1024);
  BadStreams bad;
  for (const auto& stream : bad.list()) {
    SCOPED_TRACE(stream.what);
    for (Place host : kEveryHostPlace) {
      ExpectBatch(GetParam(), ToDeviceFrom(places, host, 2), stream.handle, ACL_ERROR_RT_INVALID_HANDLE, kNoItem);
    }
  }
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchAsync, NullStreamIsTheDefaultStreamAndNeedsAContext) {
  Places places(1024);
  const Batch batch = ToDeviceFrom(places, kPinned, 3);
  {
    HeldStream held(nullptr);
    ExpectBatch(GetParam(), batch, nullptr, ACL_SUCCESS, kNoItem);
    places.ExpectAsApplied();
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
  }
  places.Apply(batch);
  places.ExpectAsApplied();
  OnFreshThread([&] { ExpectBatch(GetParam(), batch, nullptr, ACL_ERROR_RT_CONTEXT_NULL, kNoItem); });
  OnFreshThread([&] { ExpectBatch(GetParam(), batch, stream_, ACL_ERROR_RT_CONTEXT_NULL, kNoItem); });
}

TEST_P(MemcpyBatchAsync, PinnedItemsWaitForTheStream) {
  for (Place host : {kPinned, kRegistered}) {
    for (bool to_device : {true, false}) {
      SCOPED_TRACE(std::string(kPlaceNames[host]) + (to_device ? " to device" : " from device"));
      Places places(4096);
      const Batch batch = to_device ? ToDeviceFrom(places, host, 40) : ToHostOf(places, host, 40);
      HeldStream held(stream_);
      ExpectSuccess(batch);
      places.ExpectAsApplied();
      ASSERT_EQ(held.Release(), ACL_SUCCESS);
      places.Apply(batch);
      places.ExpectAsApplied();
    }
  }
}

TEST_P(MemcpyBatchAsync, PinnedBytesAreReadWhenTheTaskRuns) {
  Places places(1024);
  const Batch batch = ToDeviceFrom(places, kPinned, 5);
  HeldStream held(stream_);
  ExpectSuccess(batch);
  places.Refill(2);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  places.Apply(batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchAsync, PageableItemsAreDoneOnReturn) {
  Places places(1024);
  const Batch to_device = ToDeviceFrom(places, kPageable, 5);
  ExpectSuccess(to_device);
  places.Apply(to_device);
  places.ExpectAsApplied();
  places.Refill(2);
  const Batch to_host = ToHostOf(places, kPageable, 5);
  ExpectSuccess(to_host);
  places.Apply(to_host);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchAsync, ThereIsNoLimitOf4096Items) {
  constexpr size_t kCount = 5000;
  Places places(kCount * kStride);
  for (Place host : {kPinned, kPageable}) {
    const Batch batch = ToDeviceFrom(places, host, kCount);
    ExpectSuccess(batch);
    Finish();
    places.Apply(batch);
    places.ExpectAsApplied();
  }
}

TEST_P(MemcpyBatchAsync, PinnedItemIsRejectedOnAStreamOfAnotherContext) {
  Places places(1024);
  ForeignStream foreign;
  for (Place host : {kPinned, kRegistered}) {
    ExpectBatch(GetParam(), ToDeviceFrom(places, host, 3), foreign.get(), ACL_ERROR_RT_STREAM_CONTEXT, kNoItem);
    ExpectBatch(GetParam(), ToHostOf(places, host, 3), foreign.get(), ACL_ERROR_RT_STREAM_CONTEXT, kNoItem);
  }
  ASSERT_EQ(aclrtSynchronizeStream(foreign.get()), ACL_SUCCESS);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchAsync, PageableItemsAcceptAStreamOfAnotherContextAndWaitForIt) {
  Places places(1024);
  ForeignStream foreign;
  const Batch batch = ToDeviceFrom(places, kPageable, 3);
  aclrtContext before = nullptr;
  aclrtContext after = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(foreign.context()), ACL_SUCCESS);
  {
    HeldStream held(foreign.get());
    ASSERT_EQ(aclrtMemsetAsync(places.at(kDevice, 0), 1024, 0, 1024, foreign.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
    EXPECT_EQ(held.ReleaseDuring([&] {
      ExpectBatch(GetParam(), batch, foreign.get(), ACL_SUCCESS, kNoItem);
      return ACL_SUCCESS;
    }),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtGetCurrentContext(&after), ACL_SUCCESS);
    EXPECT_EQ(before, after);
  }
  std::vector<uint8_t> expected(1024);
  for (size_t i = 0; i < 3; ++i) std::memcpy(expected.data() + i * kStride, places.at(kPageable, i * kStride), kItem);
  EXPECT_EQ(places.Read(kDevice), expected);
}

TEST_P(MemcpyBatchAsync, OnePinnedItemAmongPageableOnesIsEnoughForTheForeignStreamToBeRejected) {
  Places places(1024);
  ForeignStream foreign;
  for (size_t pinned : {0, 2}) {
    Batch batch = ToDeviceFrom(places, kPageable, 3);
    batch.srcs[pinned] = places.at(kPinned, 0);
    ExpectBatch(GetParam(), batch, foreign.get(), ACL_ERROR_RT_STREAM_CONTEXT, kNoItem);
  }
}

// rules/batches.md 3: the stream is synchronised for a pageable item, so an earlier failure comes out there, once.
TEST_P(MemcpyBatchAsync, PageableItemReturnsTheEarlierErrorOfTheStreamAndIsNotCopied) {
  Places places(1024);
  DeviceBuffer other(256);
  const Batch batch = ToDeviceFrom(places, kPageable, 3);
  QueueFailingCopy(stream_, other);
  Expect(ACL_ERROR_RT_SYS_DMA, kNoItem, batch);
  places.ExpectAsApplied();
  ExpectSuccess(batch);
  places.Apply(batch);
  places.ExpectAsApplied();
  Finish();
}

TEST_P(MemcpyBatchAsync, PinnedItemsDoNotAskForTheEarlierErrorOfTheStream) {
  Places places(1024);
  DeviceBuffer other(256);
  const Batch batch = ToDeviceFrom(places, kPinned, 3);
  QueueFailingCopy(stream_, other);
  ExpectSuccess(batch);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  places.Apply(batch);
  places.ExpectAsApplied();
}

}  // namespace memcpy_batch_async_test
}  // namespace ropeway_test::bytes
