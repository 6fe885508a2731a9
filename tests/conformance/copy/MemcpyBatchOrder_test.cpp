// Batches among the other work of their stream: before and behind copies, sets and events, one batch after the other,
// and as one unit when several threads submit to the same stream.
#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_order_test {

using MemcpyBatchOrder = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchOrder, ::testing::Values(kBatchAsync, kBatchAsyncV2), FormName);

TEST_P(MemcpyBatchOrder, BatchKeepsItsPlaceAmongSetsAndCopies) {
  constexpr size_t kSize = 2000;
  Places places(kSize);
  DeviceBuffer second(kSize);
  PinnedBuffer result(kSize);
  const Batch in = ToDeviceFrom(places, kPinned, 20);
  Batch out = BatchToHost();
  for (size_t i = 0; i < 20; ++i) out.Add(result.get() + i * 100, second.at(i * 100), 100);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemsetAsync(places.at(kDevice, 0), kSize, 0x11, kSize, stream_), ACL_SUCCESS);
  ExpectSuccess(in);
  ASSERT_EQ(aclrtMemcpyAsync(second.get(), kSize, places.at(kDevice, 0), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(places.at(kDevice, 0), kSize, 0x22, kSize, stream_), ACL_SUCCESS);
  ExpectSuccess(out);
  ASSERT_EQ(aclrtMemsetAsync(second.get(), kSize, 0x33, kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);

  std::vector<uint8_t> expected(kSize, 0x11);
  for (size_t i = 0; i < 20; ++i) std::memcpy(expected.data() + i * kStride, places.at(kPinned, i * kStride), kItem);
  EXPECT_EQ(BytesAt(result.get(), kSize), expected);
  EXPECT_EQ(places.Read(kDevice), std::vector<uint8_t>(kSize, 0x22));
  EXPECT_EQ(second.Read(kSize), std::vector<uint8_t>(kSize, 0x33));
}

TEST_P(MemcpyBatchOrder, LaterBatchesOverwriteEarlierOnes) {
  constexpr size_t kBatches = 50, kItems = 16;
  DeviceBuffer device(kItems * 16);
  PinnedBuffer sources(kBatches * kItems * 16);
  Fill(sources, Pattern(sources.size(), 1));
  for (size_t k = 0; k < kBatches; ++k) {
    Batch batch = BatchToDevice();
    for (size_t i = 0; i < kItems; ++i) {
      const size_t slot = (i * 7 + k) % kItems;
      batch.Add(device.at(slot * 16), sources.get() + (k * kItems + slot) * 16, 16);
    }
    ASSERT_EQ(Submit(batch), ACL_SUCCESS);
  }
  Finish();
  EXPECT_EQ(device.Read(kItems * 16), BytesAt(sources.get() + (kBatches - 1) * kItems * 16, kItems * 16));
}

TEST_P(MemcpyBatchOrder, EventBehindABatchCoversAllOfIt) {
  Places places(4096);
  PinnedBuffer result(4096);
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  const Batch in = ToDeviceFrom(places, kPinned, 50);
  Batch out = BatchToHost();
  for (size_t i = 0; i < 64; ++i) out.Add(result.get() + i * 64, places.at(kDevice, i * 64), 64);
  {
    HeldStream held(stream_);
    ExpectSuccess(in);
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
    ExpectBatch(GetParam(), out, other, ACL_SUCCESS, kNoItem);
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  places.Apply(in);
  EXPECT_EQ(BytesAt(result.get(), 4096), places.Expected(kDevice, 4096));
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

// Two threads write marks into the same slots, a third reads them, all by batches on one stream. Whoever was in
// between, the slots of one reading agree, because no batch runs inside another.
TEST_P(MemcpyBatchOrder, BatchesOfSeveralThreadsDoNotInterleave) {
  constexpr size_t kRounds = 60, kSlots = 64, kSlot = 16, kApart = 32;
  DeviceBuffer device(kSlots * kApart);
  device.Write(std::vector<uint8_t>(kSlots * kApart));
  PinnedBuffer marks(2 * kRounds * kSlot);
  for (size_t k = 0; k < 2 * kRounds; ++k) std::memset(marks.get() + k * kSlot, static_cast<int>(k + 1), kSlot);
  PinnedBuffer readings(kRounds * kSlots * kSlot);
  OnDeviceThreads(3, [&](int thread) {
    for (size_t round = 0; round < kRounds; ++round) {
      Batch batch = thread == 2 ? BatchToHost() : BatchToDevice();
      for (size_t slot = 0; slot < kSlots; ++slot) {
        if (thread == 2) {
          batch.Add(readings.get() + (round * kSlots + slot) * kSlot, device.at(slot * kApart), kSlot);
        } else {
          const size_t mark = round * 2 + static_cast<size_t>(thread);
          batch.Add(device.at(slot * kApart), marks.get() + mark * kSlot, kSlot);
        }
      }
      ASSERT_EQ(Submit(batch), ACL_SUCCESS);
    }
  });
  Finish();
  for (size_t round = 0; round < kRounds; ++round) {
    const auto* reading = readings.get() + round * kSlots * kSlot;
    EXPECT_EQ(BytesAt(reading, kSlots * kSlot), std::vector<uint8_t>(kSlots * kSlot, *reading)) << "reading " << round;
  }
}

// Each thread has its own items, in pinned and in pageable memory, on the stream that all of them use.
TEST_P(MemcpyBatchOrder, ThreadsWithMixedBatchesOnOneStreamGetAllTheirBytes) {
  constexpr int kThreads = 4;
  constexpr size_t kRounds = 20, kItems = 24, kShare = kItems * kStride;
  DeviceBuffer device(kThreads * kShare);
  OnDeviceThreads(kThreads, [&](int thread) {
    const size_t base = static_cast<size_t>(thread) * kShare;
    PinnedBuffer pinned(kShare);
    std::vector<uint8_t> pageable(kShare), back(kShare);
    for (size_t round = 0; round < kRounds; ++round) {
      pageable = Pattern(kShare, static_cast<uint32_t>(thread * 1000) + static_cast<uint32_t>(round));
      Fill(pinned, pageable);
      Batch in = BatchToDevice();
      Batch out = BatchToHost();
      for (size_t i = 0; i < kItems; ++i) {
        const size_t at = i * kStride;
        in.Add(device.at(base + at), (i % 5 == 1 ? pageable.data() : pinned.get()) + at, kStride);
        out.Add(back.data() + at, device.at(base + at), kStride);
      }
      ASSERT_EQ(Submit(in), ACL_SUCCESS);
      ASSERT_EQ(Submit(out), ACL_SUCCESS);  // pageable: behind all of `in`, and done on return
      ASSERT_EQ(back, pageable) << "thread " << thread << ", round " << round;
    }
  });
  Finish();
}

}  // namespace memcpy_batch_order_test
}  // namespace ropeway_test::bytes
