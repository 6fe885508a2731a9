// aclrtMemcpyBatch and aclrtMemcpyBatchV2: the order of the checks, the limit of 4096 items, and what only the sync
// form does: no context, all or nothing, no order with streams. Rules of all four functions are in
// MemcpyBatchChecks_test.cpp.
#include <numeric>

#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_test {

using MemcpyBatch = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatch, ::testing::Values(kBatch, kBatchV2), FormName);

constexpr size_t kMostItems = 4096;

// The table of rules/batches.md 2. The arrays are long enough for the batch that has one item too many.
TEST_P(MemcpyBatch, EarlierCheckWins) {
  constexpr aclError kRefused = ACL_ERROR_RT_PARAM_INVALID;
  using Call = BatchCall;
  Places places((kMostItems + 1) * kStride);
  Call valid;
  valid.batch = ToDeviceFrom(places, kPinned, kMostItems + 1);
  valid.batch.attrs.resize(kMostItems + 2, valid.batch.attrs[0]);
  valid.batch.indexes.resize(kMostItems + 2);
  std::iota(valid.batch.indexes.begin(), valid.batch.indexes.end(), size_t{0});
  valid.batch.count = 3;
  auto lines = OuterBatchLines(GetParam());
  const std::vector<Check<Call>> inner = {
      Line("more attributes than items", kRefused, kNoItem, [](Call& c) { c.batch.num_attrs = c.batch.count + 1; }),
      Line("4097 items", kRefused, kNoItem, [](Call& c) { c.batch.count = kMostItems + 1; }),
      Line("first index not 0", kRefused, kNoItem, [](Call& c) { c.batch.indexes[0] = 1; }),
      Line("src of the first item NULL", kRefused, 0, [](Call& c) { c.batch.srcs[0] = nullptr; }),
      Line("dst of the first item NULL", kRefused, 0, [](Call& c) { c.batch.dsts[0] = nullptr; }),
      Line("dst elsewhere", kRefused, 0, [](Call& c) { c.batch.attrs[0].dstLoc.id = 99; }),
      Line("src elsewhere", kRefused, 0, [](Call& c) { c.batch.attrs[0].srcLoc = DeviceLocation(); }),
      Line("two host sides", kRefused, 0,
           [&](Call& c) {
             c.batch.dsts[0] = places.at(kRegistered, 0);
             c.batch.attrs[0].dstLoc = HostLocation();
           }),
      Line("src of the second item NULL", kRefused, 1, [](Call& c) { c.batch.srcs[1] = nullptr; }),
      Line("second item past the block", kRefused, 1, [](Call& c) { c.batch.sizes[1] = c.batch.dest_maxs[1] = kMiB; }),
  };
  lines.insert(lines.end(), inner.begin(), inner.end());
  ExpectBatchCheckOrder(GetParam(), valid, lines, [&] {
    std::vector<uint8_t> seen(3 * kStride);
    EXPECT_EQ(aclrtMemcpy(seen.data(), seen.size(), places.at(kDevice, 0), seen.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(seen, places.Expected(kDevice, seen.size()));
  });
  places.Apply(valid.batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatch, TakesUpTo4096Items) {
  Places places((kMostItems + 1) * kStride);
  Expect(ACL_ERROR_RT_PARAM_INVALID, kNoItem, ToDeviceFrom(places, kPinned, kMostItems + 1));
  Expect(ACL_ERROR_RT_PARAM_INVALID, kNoItem, ToHostOf(places, kPageable, kMostItems + 1));
  places.ExpectAsApplied();
  const Batch to_device = ToDeviceFrom(places, kPinned, kMostItems);
  ExpectSuccess(to_device);
  places.Apply(to_device);
  places.ExpectAsApplied();
  const Batch to_host = ToHostOf(places, kPageable, kMostItems);
  ExpectSuccess(to_host);
  places.Apply(to_host);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatch, NeedsNoContext) {
  Places places(1024);
  for (Place host : kEveryHostPlace) {
    for (const Batch& batch : {ToDeviceFrom(places, host, 3), ToHostOf(places, host, 3)}) {
      SCOPED_TRACE(kPlaceNames[host]);
      places.Refill(static_cast<uint32_t>(host) + 2);
      OnFreshThread([&] {
        ExpectSuccess(batch);
        aclrtContext context = nullptr;
        EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL) << "the call gave the thread a context";
      });
      places.Apply(batch);
      places.ExpectAsApplied();
    }
  }
}

TEST_P(MemcpyBatch, ChecksItemsWithoutAContextToo) {
  Places places(1024);
  Batch batch = ToDeviceFrom(places, kPinned, 3);
  batch.srcs[2] = places.at(kDevice, 512);
  OnFreshThread([&] { Expect(ACL_ERROR_RT_PARAM_INVALID, 2, batch); });
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatch, IsDoneOnReturnAndWaitsForNoStream) {
  Places places(1024);
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    HeldStream held(stream);
    for (Place host : kEveryHostPlace) {
      for (const Batch& batch : {ToDeviceFrom(places, host, 3), ToHostOf(places, host, 3)}) {
        places.Refill(static_cast<uint32_t>(host) + 2);
        ExpectSuccess(batch);
        places.Apply(batch);
        places.ExpectAsApplied();
      }
    }
  }
}

TEST_P(MemcpyBatch, ItemOfSizeZeroIsNothingToDo) {
  Places places(1024);
  Batch batch = ToDeviceFrom(places, kPinned, 5);
  batch.sizes[0] = batch.sizes[2] = batch.sizes[4] = 0;
  batch.dest_maxs[2] = 0;
  ExpectSuccess(batch);
  places.Apply(batch);
  places.ExpectAsApplied();
}

// All items are checked before the first moves. What the async form leaves behind is in MemcpyBatchEffects_test.cpp.
TEST_P(MemcpyBatch, BadLastItemLeavesEverythingAsItWas) {
  constexpr size_t kCount = 6;
  constexpr size_t kLast = kCount - 1;
  Places places(1024);
  for (Place host : kEveryHostPlace) {
    for (const ItemFault& fault : ItemFaults(places)) {
      SCOPED_TRACE(std::string(kPlaceNames[host]) + ", last item: " + fault.what);
      Batch batch = ToDeviceFrom(places, host, kCount);
      fault.apply(batch, kLast);
      Expect(ACL_ERROR_RT_PARAM_INVALID, kLast, batch);
      places.ExpectAsApplied();
    }
  }
}

}  // namespace memcpy_batch_test
}  // namespace ropeway_test::bytes
