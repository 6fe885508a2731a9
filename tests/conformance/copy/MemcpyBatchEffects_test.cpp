// What a batch on a stream does and when (rules/batches.md 3): items in front of a bad one, pinned and pageable items together, items
// that overlap, and arrays and blocks that are gone while the batch is still queued. Order is in
// MemcpyBatchOrder_test.cpp.
#include <algorithm>
#include <memory>

#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_effects_test {

using MemcpyBatchEffects = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchEffects, ::testing::Values(kBatchAsync, kBatchAsyncV2), FormName);

constexpr size_t kCount = 12;

// Batches of `kCount` items, each with another one broken in another way.
void ForEachBrokenBatch(const Places& places, Place host, const Callable<void(const Batch&, size_t)>& body) {
  auto faults = ItemFaults(places);
  faults.push_back({"size 0", [](Batch& b, size_t i) { b.sizes[i] = 0; }});
  for (const ItemFault& fault : faults) {
    for (size_t bad : {size_t{0}, size_t{1}, kCount / 2, kCount - 1}) {
      SCOPED_TRACE(std::string(kPlaceNames[host]) + ", item " + std::to_string(bad) + ": " + fault.what);
      Batch batch = ToDeviceFrom(places, host, kCount);
      fault.apply(batch, bad);
      body(batch, bad);
    }
  }
}

TEST_P(MemcpyBatchEffects, PinnedItemsInFrontOfABadOneStayQueued) {
  Places places(1024);
  ForEachBrokenBatch(places, kPinned, [&](const Batch& batch, size_t bad) {
    places.Refill(2);
    HeldStream held(stream_);
    Expect(ACL_ERROR_RT_PARAM_INVALID, bad, batch);
    places.ExpectAsApplied(kDevice);
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
    places.Apply(batch, 0, bad);
    places.ExpectAsApplied();
  });
}

TEST_P(MemcpyBatchEffects, PageableItemsInFrontOfABadOneAreDone) {
  Places places(1024);
  ForEachBrokenBatch(places, kPageable, [&](const Batch& batch, size_t bad) {
    places.Refill(2);
    Expect(ACL_ERROR_RT_PARAM_INVALID, bad, batch);
    places.Apply(batch, 0, bad);
    places.ExpectAsApplied();
  });
}

// With the bad item behind a pageable one, which drains the stream, and pinned ones on either side of that.
TEST_P(MemcpyBatchEffects, MixedItemsInFrontOfABadOneArriveAll) {
  Places places(1024);
  Batch batch = ToDeviceFrom(places, kPinned, kCount);
  batch.srcs[2] = places.at(kPageable, 2 * kStride);
  batch.srcs[3] = places.at(kPageable, 3 * kStride);
  batch.srcs[6] = nullptr;
  Expect(ACL_ERROR_RT_PARAM_INVALID, 6, batch);
  Finish();
  places.Apply(batch, 0, 6);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchEffects, ItemInFrontOfAFailedDrainStaysQueued) {
  Places places(1024);
  DeviceBuffer other(256);
  Batch batch = ToDeviceFrom(places, kPageable, 3);
  batch.srcs[0] = places.at(kPinned, 0);
  QueueFailingCopy(stream_, other);
  Expect(ACL_ERROR_RT_SYS_DMA, kNoItem, batch);
  Finish();
  places.Apply(batch, 0, 1);
  places.ExpectAsApplied();
}

// The one promise for a mixed batch: when the call returns, the pageable items are done.
TEST_P(MemcpyBatchEffects, MixedBatchToTheHostHasItsPageableItemsDoneOnReturn) {
  Places places(1024);
  Batch batch = ToHostOf(places, kPinned, kCount);
  Batch blocking = ToHostOf(places, kPageable, 0);
  for (size_t i = 1; i < kCount; i += 2) {
    batch.dsts[i] = places.at(kPageable, i * kStride);
    blocking.Add(batch.dsts[i], batch.srcs[i], kItem);
  }
  HeldStream held(stream_);
  EXPECT_EQ(held.ReleaseDuring([&] { return Submit(batch); }), ACL_SUCCESS);
  places.Apply(blocking);
  places.ExpectAsApplied(kPageable);
  Finish();
  places.Apply(batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchEffects, MixedBatchToTheDeviceMayLoseItsPageableSourcesOnReturn) {
  Places places(1024);
  Batch batch = ToDeviceFrom(places, kPinned, kCount);
  for (size_t i = 0; i < kCount; i += 3) batch.srcs[i] = places.at(kPageable, i * kStride);
  HeldStream held(stream_);
  EXPECT_EQ(held.ReleaseDuring([&] { return Submit(batch); }), ACL_SUCCESS);
  places.Apply(batch);
  std::memset(places.at(kPageable, 0), 0, 1024);
  Finish();
  places.ExpectAsApplied(kDevice);
}

TEST_P(MemcpyBatchEffects, PageableItemSeesTheEarlierWorkOfItsStream) {
  Places places(1024);
  const Batch batch = ToHostOf(places, kPageable, kCount);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemsetAsync(places.at(kDevice, 0), 1024, 0x5A, 1024, stream_), ACL_SUCCESS);
  EXPECT_EQ(held.ReleaseDuring([&] { return Submit(batch); }), ACL_SUCCESS);
  const auto seen = places.Read(kPageable);
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(BytesAt(seen.data() + i * kStride, kItem), std::vector<uint8_t>(kItem, 0x5A)) << "item " << i;
  }
}

TEST_P(MemcpyBatchEffects, ArraysAreTheCallersAgainOnReturn) {
  Places places(1024);
  const Batch wanted = ToDeviceFrom(places, kPinned, kCount);
  auto passed = std::make_unique<Batch>(wanted);
  HeldStream held(stream_);
  ExpectSuccess(*passed);
  std::fill(passed->dsts.begin(), passed->dsts.end(), places.at(kDevice, 0));
  std::fill(passed->srcs.begin(), passed->srcs.end(), places.at(kPinned, 900));
  std::fill(passed->sizes.begin(), passed->sizes.end(), size_t{1});
  std::fill(passed->dest_maxs.begin(), passed->dest_maxs.end(), size_t{0});
  std::fill(passed->indexes.begin(), passed->indexes.end(), size_t{5});
  std::memset(passed->attrs.data(), 0xFF, passed->attrs.size() * sizeof(aclrtMemcpyBatchAttr));
  passed.reset();
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  places.Apply(wanted);
  places.ExpectAsApplied();
}

// The bytes where destinations overlap are unspecified; the bytes of all others are not.
TEST_P(MemcpyBatchEffects, OverlappingDestinationsDisturbNothingElse) {
  constexpr size_t kFirst = 100, kLast = 100 + 3 * 48 + kItem;
  Places places(1024);
  Batch batch = BatchToDevice();
  batch.Add(places.at(kDevice, 0), places.at(kPinned, 512), 50);
  for (size_t i = 0; i < 4; ++i) batch.Add(places.at(kDevice, kFirst + i * 48), places.at(kPinned, i * kItem), kItem);
  batch.Add(places.at(kDevice, kLast), places.at(kPinned, 700), 33);
  ExpectSuccess(batch);
  Finish();
  places.Apply(batch);
  const auto seen = places.Read(kDevice);
  const auto expected = places.Expected(kDevice, 1024);
  EXPECT_TRUE(std::equal(seen.begin(), seen.begin() + kFirst, expected.begin()));
  EXPECT_TRUE(std::equal(seen.begin() + kLast, seen.end(), expected.begin() + kLast));
}

TEST_P(MemcpyBatchEffects, ItemsMayShareTheirSource) {
  Places places(1024);
  Batch batch = BatchToDevice();
  for (size_t i = 0; i < kCount; ++i) batch.Add(places.at(kDevice, i * kStride), places.at(kPinned, i % 3), kItem);
  ExpectSuccess(batch);
  Finish();
  places.Apply(batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchEffects, OddSizesAndAddressesCopyExactly) {
  Places places(32 * kKiB);
  Batch batch = BatchToHost();
  size_t offset = 1;
  for (size_t size = 1; size < 200; ++size) {
    batch.Add(places.at(kPinned, offset), places.at(kDevice, 25000 - offset), size);
    offset += size + size % 3;  // every third pair of neighbours touches
  }
  ExpectSuccess(batch);
  Finish();
  places.Apply(batch);
  places.ExpectAsApplied();
}

// Blocks that lie next to each other, with the bytes that aclrtMalloc reserves beside them, against one long host
// block: the items can be joined, but each block is freed on its own while they wait.
TEST_P(MemcpyBatchEffects, BlocksMayBeFreedUnderAQueuedBatch) {
  constexpr size_t kBlocks = 32, kSize = 4096;
  std::vector<void*> blocks(kBlocks);
  for (void*& block : blocks) ASSERT_EQ(aclrtMalloc(&block, kSize - 32, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  std::sort(blocks.begin(), blocks.end());
  auto source = std::make_unique<PinnedBuffer>(kBlocks * kSize);
  PinnedBuffer result(kBlocks * kSize);
  Fill(*source, Pattern(kBlocks * kSize, 5));
  Batch in = BatchToDevice();
  Batch out = BatchToHost();
  for (size_t i = 0; i < kBlocks; ++i) {
    in.Add(blocks[i], source->get() + i * kSize, kSize);
    out.Add(result.get() + i * kSize, blocks[i], kSize);
  }
  HeldStream held(stream_);
  ExpectSuccess(in);
  ExpectSuccess(out);
  for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  source.reset();
  Expect(ACL_ERROR_RT_PARAM_INVALID, 0, out);
  std::vector<std::unique_ptr<DeviceBuffer>> later;
  for (size_t i = 0; i < kBlocks; ++i) {
    later.push_back(std::make_unique<DeviceBuffer>(kSize - 32));
    later.back()->Write(std::vector<uint8_t>(kSize - 32, 0xEE));
  }
  PinnedBuffer later_source(kBlocks * kSize);
  std::memset(later_source.get(), 0xEE, kBlocks * kSize);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_TRUE(BytesAt(result.get(), kBlocks * kSize) == Pattern(kBlocks * kSize, 5)) << "a queued item lost its bytes";
  for (const auto& block : later) EXPECT_EQ(block->Read(kSize - 32), std::vector<uint8_t>(kSize - 32, 0xEE));
}

TEST_P(MemcpyBatchEffects, RegistrationMayEndUnderAQueuedBatch) {
  Places places(2048);
  std::vector<uint8_t> host = Pattern(2048, 6);
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  Batch batch = BatchToDevice();
  for (size_t i = 0; i < 16; ++i) batch.Add(places.at(kDevice, i * 128), host.data() + (15 - i) * 128, 128);
  HeldStream held(stream_);
  ExpectSuccess(batch);
  EXPECT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  const auto seen = places.Read(kDevice);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(BytesAt(seen.data() + i * 128, 128), BytesAt(host.data() + (15 - i) * 128, 128)) << "item " << i;
  }
}

}  // namespace memcpy_batch_effects_test
}  // namespace ropeway_test::bytes
