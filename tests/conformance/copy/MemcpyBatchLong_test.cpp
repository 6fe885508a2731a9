// Batches of thousands of items on a stream. An engine may begin with the first of them while the call still looks at the
// others, so what holds for short batches (rules/batches.md 3) is tried here at items that lie far behind: what is refused, what is
// pageable, what neighbours touch.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_long_test {

using MemcpyBatchLong = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchLong, ::testing::Values(kBatchAsync, kBatchAsyncV2), FormName);

constexpr size_t kCount = 3000;
constexpr size_t kMiddling = 700;
constexpr size_t kBytes = kCount * kStride;
// First and last ones, and those around powers of two, where a part of a batch may end.
constexpr size_t kPositions[] = {0, 1, 127, 128, 129, 255, 256, 257, 511, 512, 1023, 1024, 1025, 2047, 2048, kCount - 1};

TEST_P(MemcpyBatchLong, EveryItemArrivesAndNothingElseChanges) {
  Places places(kBytes);
  for (const Batch& batch :
       {ToDeviceFrom(places, kPinned, kCount), ToHostOf(places, kRegistered, kCount), ToHostOf(places, kPinned, kCount),
        ToDeviceFrom(places, kPinned, kMiddling), ToHostOf(places, kPinned, kMiddling)}) {
    ExpectSuccess(batch);
    Finish();
    places.Apply(batch);
    places.ExpectAsApplied();
  }
}

TEST_P(MemcpyBatchLong, ArraysAreFreeWhenTheCallReturnsAndTheStreamIsHeld) {
  Places places(kBytes);
  Batch batch = ToDeviceFrom(places, kPinned, kCount);
  const Batch kept = batch;
  HeldStream held(stream_);
  ExpectSuccess(batch);
  std::fill(batch.dsts.begin(), batch.dsts.end(), nullptr);
  std::fill(batch.srcs.begin(), batch.srcs.end(), nullptr);
  std::fill(batch.sizes.begin(), batch.sizes.end(), SIZE_MAX);
  places.ExpectAsApplied(kDevice);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  places.Apply(kept);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchLong, ItemsInFrontOfABadOneArrive) {
  Places places(kBytes);
  for (const ItemFault& fault : ItemFaults(places)) {
    for (size_t bad : kPositions) {
      SCOPED_TRACE("item " + std::to_string(bad) + ": " + fault.what);
      Batch batch = ToDeviceFrom(places, kPinned, bad < kMiddling ? kMiddling : kCount);
      fault.apply(batch, bad);
      Expect(ACL_ERROR_RT_PARAM_INVALID, bad, batch);
      Finish();
      places.Apply(batch, 0, bad);
    }
    places.ExpectAsApplied();
    places.Refill(3);
  }
}

TEST_P(MemcpyBatchLong, PageableItemsAmongPinnedOnesAreDoneOnReturn) {
  Places places(kBytes);
  for (size_t position : kPositions) {
    SCOPED_TRACE("item " + std::to_string(position));
    Batch batch = ToHostOf(places, kPinned, position < kMiddling ? kMiddling : kCount);
    batch.dsts[position] = places.at(kPageable, position * kStride);
    ExpectSuccess(batch);
    places.Apply(batch);
    places.ExpectAsApplied(kPageable);
    Finish();
  }
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchLong, NeighboursThatTouchArriveAll) {
  constexpr size_t kSmall = 16;
  Places places(kCount * kSmall);
  Batch batch = BatchToDevice();
  for (size_t i = 0; i < kCount; ++i) batch.Add(places.at(kDevice, i * kSmall), places.at(kPinned, i * kSmall), kSmall);
  ExpectSuccess(batch);
  Finish();
  places.Apply(batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchLong, ItemsOfSeveralAttributesArriveAll) {
  Places places(kBytes);
  for (size_t second : kPositions) {
    if (second == 0) continue;
    Batch batch = ToDeviceFrom(places, kPinned, kCount);
    batch.attrs.push_back(batch.attrs[0]);
    batch.indexes.push_back(second);
    batch.num_attrs = 2;
    ExpectSuccess(batch);
    Finish();
    places.Apply(batch);
  }
  places.ExpectAsApplied();
}

// A thread that waits runs what it waits for, perhaps before the submitting call has returned.
TEST_P(MemcpyBatchLong, WaitingThreadsBesideTheSubmitterLoseNothing) {
  Places places(kBytes);
  const Batch batch = ToDeviceFrom(places, kPinned, kCount);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    while (!done.load()) EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  });
  for (int round = 0; round < 20; ++round) EXPECT_EQ(Submit(batch), ACL_SUCCESS);
  done = true;
  waiter.join();
  Finish();
  places.Apply(batch);
  places.ExpectAsApplied();
}

}  // namespace memcpy_batch_long_test
}  // namespace ropeway_test::bytes
