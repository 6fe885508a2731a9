// What all four batch functions check alike: reserved bytes, sizes, lists of attribute indexes, one item after the
// other, ranges that leave their block, freed memory; and what failIndex and the error text say.
#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_checks_test {

using MemcpyBatchChecks = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchChecks, ::testing::Values(kBatchAsync, kBatchAsyncV2, kBatch, kBatchV2), FormName);

constexpr aclError kOuter = ACL_ERROR_INVALID_PARAM;
constexpr aclError kInner = ACL_ERROR_RT_PARAM_INVALID;

TEST_P(MemcpyBatchChecks, CopiesEveryItemInBothDirectionsFromEveryHostMemory) {
  Places places(2048);
  for (Place host : kEveryHostPlace) {
    for (const Batch& batch : {ToDeviceFrom(places, host, 20), ToHostOf(places, host, 20)}) {
      SCOPED_TRACE(kPlaceNames[host]);
      places.Refill(static_cast<uint32_t>(host) + 2);
      ExpectSuccess(batch);
      Finish();
      places.Apply(batch);
      places.ExpectAsApplied();
    }
  }
}

TEST_P(MemcpyBatchChecks, DestMaxMayBeLargerThanTheSize) {
  Places places(1024);
  Batch batch = ToDeviceFrom(places, kPinned, 3);
  batch.dest_maxs = {kItem, SIZE_MAX, 4096};
  ExpectSuccess(batch);
  Finish();
  places.Apply(batch);
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchChecks, OneSizeAboveItsDestMaxRefusesTheBatchWithoutNamingTheItem) {
  Places places(1024);
  for (size_t item : {0, 3, 6}) {
    Batch batch = ToDeviceFrom(places, kPinned, 7);
    batch.dest_maxs[item] = kItem - 1;
    Expect(kOuter, kNoItem, batch);
    batch.dest_maxs[item] = 0;
    Expect(kOuter, kNoItem, batch);
  }
  Finish();
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchChecks, EveryReservedByteOfEveryAttributeMustBeZero) {
  Places places(1024);
  for (size_t attr = 0; attr < 3; ++attr) {
    for (size_t byte = 0; byte < 16; ++byte) {
      SCOPED_TRACE("attrs[" + std::to_string(attr) + "].rsv[" + std::to_string(byte) + "]");
      Batch batch = ToDeviceFrom(places, kPinned, 3);
      batch.Declare(DeviceLocation(), HostLocation()).Declare(DeviceLocation(), HostLocation());
      batch.indexes = {0, 1, 2};
      batch.attrs[attr].rsv[byte] = 0x80;
      Expect(kOuter, kNoItem, batch);
    }
  }
  Finish();
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchChecks, OnlyZeroSizesIsSuccessAndLooksAtNothingElse) {
  Batch nothing;
  nothing.sizes = {0, 0, 0};
  nothing.count = 3;
  nothing.num_attrs = 99;
  nothing.missing = ~unsigned{Batch::kSizes};
  ExpectBatch(GetParam(), nothing, reinterpret_cast<aclrtStream>(uintptr_t{0x10}), ACL_SUCCESS, kNoItem);
  OnFreshThread([&] { ExpectBatch(GetParam(), nothing, nullptr, ACL_SUCCESS, kNoItem); });
}

TEST_P(MemcpyBatchChecks, AttributeIndexesStartAtZeroRiseAndStayInsideTheBatch) {
  Places places(1024);
  const std::vector<std::vector<size_t>> refused = {{1},           {2},       {SIZE_MAX}, {0, 0},    {0, 5},       {0, 6},
                                                    {0, SIZE_MAX}, {0, 2, 2}, {0, 3, 1},  {1, 2, 3}, {0, 1, 2, 5}, {0, 4, 3, 2, 1}};
  const std::vector<std::vector<size_t>> accepted = {{0}, {0, 1}, {0, 4}, {0, 2, 3}, {0, 1, 2, 3, 4}};
  auto with = [&](const std::vector<size_t>& indexes) {
    Batch batch = ToDeviceFrom(places, kPinned, 5);
    batch.attrs.resize(indexes.size(), batch.attrs[0]);
    batch.indexes = indexes;
    batch.num_attrs = indexes.size();
    return batch;
  };
  for (size_t k = 0; k < refused.size(); ++k) {
    SCOPED_TRACE("refused list " + std::to_string(k));
    Expect(kInner, kNoItem, with(refused[k]));
    Finish();
    places.ExpectAsApplied(kDevice);
  }
  for (size_t k = 0; k < accepted.size(); ++k) {
    SCOPED_TRACE("accepted list " + std::to_string(k));
    places.Refill(static_cast<uint32_t>(k));
    const Batch batch = with(accepted[k]);
    ExpectSuccess(batch);
    Finish();
    places.Apply(batch);
    places.ExpectAsApplied(kDevice);
  }
}

TEST_P(MemcpyBatchChecks, NumberOfAttributesIsBetweenOneAndTheNumberOfItems) {
  Places places(1024);
  Batch batch = ToDeviceFrom(places, kPinned, 2);
  batch.num_attrs = 0;
  Expect(kInner, kNoItem, batch);
  batch.attrs.resize(3, batch.attrs[0]);
  batch.indexes = {0, 1, 2};
  batch.num_attrs = 3;
  Expect(kInner, kNoItem, batch);
  Finish();
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchChecks, TheFirstBadItemIsReportedWhateverIsWrongWithLaterOnes) {
  Places places(1024);
  const auto faults = ItemFaults(places);
  for (const ItemFault& first : faults) {
    for (const ItemFault& second : faults) {
      SCOPED_TRACE(std::string(first.what) + ", then " + second.what);
      Batch batch = ToDeviceFrom(places, kPinned, 6);
      first.apply(batch, 2);
      second.apply(batch, 4);
      Expect(kInner, 2, batch);
      Finish();
    }
  }
}

TEST_P(MemcpyBatchChecks, ItemThatLeavesItsBlockIsReportedAndMovesNothing) {
  Places places(1024);
  auto expect_refused = [&](void* dst, void* src, size_t size) {
    Batch batch = BatchToDevice();
    batch.Add(places.at(kDevice, 0), places.at(kPinned, 0), kItem).Add(dst, src, size);
    places.Refill(2);
    Expect(kInner, 1, batch);
    Finish();
    if (Async()) places.Apply(batch, 0, 1);
    places.ExpectAsApplied();
  };
  std::vector<uint8_t> large(8192);
  const size_t padding = 32;  // aclrtMalloc reserves that much more
  expect_refused(places.at(kDevice, 100), large.data(), 1024 - 100 + padding + 1);
  expect_refused(places.at(kDevice, 100), large.data(), 8192);
  expect_refused(places.at(kDevice, 100), places.at(kPinned, 1000), 25);
  expect_refused(places.at(kDevice, 100), places.at(kPinned, 1023), 2);
  for (size_t size : {size_t{1} << 40, SIZE_MAX / 2, SIZE_MAX - 63, SIZE_MAX}) {
    expect_refused(places.at(kDevice, 100), places.at(kPinned, 100), size);
    expect_refused(places.at(kDevice, 100), large.data(), size);
  }
}

TEST_P(MemcpyBatchChecks, ItemMayReachTheLastByteOfItsBlock) {
  DeviceBuffer device(1000);
  PinnedBuffer pinned(1056);
  Fill(pinned, Pattern(1056, 3));
  const size_t reserved = 1024 + 32;
  ExpectSuccess(BatchToDevice().Add(device.get(), pinned.get(), reserved - 1).Add(device.at(reserved - 1), pinned.get(), 1));
  Finish();
  auto expected = Pattern(1000, 3);
  EXPECT_EQ(device.Read(1000), expected);
}

TEST_P(MemcpyBatchChecks, RangeThatLeavesARegistrationIsStillCopied) {
  Places places(4096);
  std::vector<uint8_t> host = Pattern(4096, 4);
  ASSERT_EQ(aclrtHostRegisterV2(host.data() + 1000, 1000, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  Batch batch = BatchToDevice();
  batch.Add(places.at(kDevice, 0), host.data() + 900, 200).Add(places.at(kDevice, 512), host.data() + 1900, 200);
  ExpectSuccess(batch);
  std::vector<uint8_t> seen = places.Read(kDevice);
  EXPECT_EQ(BytesAt(seen.data(), 200), BytesAt(host.data() + 900, 200));
  EXPECT_EQ(BytesAt(seen.data() + 512, 200), BytesAt(host.data() + 1900, 200)) << "a pageable item is done on return";
  EXPECT_EQ(aclrtHostUnregister(host.data() + 1000), ACL_SUCCESS);
}

TEST_P(MemcpyBatchChecks, FreedDeviceMemoryIsReported) {
  Places places(1024);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 1024, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  for (Place host : kEveryHostPlace) {
    Batch to_device = ToDeviceFrom(places, host, 4);
    to_device.dsts[3] = freed;
    Expect(kInner, 3, to_device);
    Batch to_host = ToHostOf(places, host, 4);
    to_host.srcs[3] = freed;
    Expect(kInner, 3, to_host);
  }
  Finish();
}

TEST_P(MemcpyBatchChecks, TextNamesTheArgument) {
  Places places(1024);
  auto expect = [&](aclError code, const std::vector<std::string>& words, const Callable<void(Batch&)>& change) {
    Batch batch = ToDeviceFrom(places, kPinned, 3);
    change(batch);
    ExpectText(code, words, [&] { return Submit(batch); });
  };
  const std::string name = GetParam().name;
  expect(kOuter, {name, "dsts"}, [](Batch& b) { b.missing = Batch::kDsts; });
  expect(kOuter, {name, "destMaxs"}, [](Batch& b) { b.missing = Batch::kDestMaxs; });
  expect(kOuter, {name, "srcs"}, [](Batch& b) { b.missing = Batch::kSrcs; });
  expect(kOuter, {name, "sizes"}, [](Batch& b) { b.missing = Batch::kSizes; });
  expect(kOuter, {name, "attrs"}, [](Batch& b) { b.missing = Batch::kAttrs; });
  expect(kOuter, {name, "attrsIndexes"}, [](Batch& b) { b.missing = Batch::kIndexes; });
  expect(kOuter, {name, "numBatches"}, [](Batch& b) { b.count = 0; });
  expect(kOuter, {name, "sizes[1]", "64", "destMaxs[1]", "63"}, [](Batch& b) { b.dest_maxs[1] = 63; });
  expect(kOuter, {name, "rsv"}, [](Batch& b) { b.attrs[0].rsv[0] = 1; });
  expect(kInner, {name, "numAttrs", "0"}, [](Batch& b) { b.num_attrs = 0; });
  expect(kInner, {name, "attrsIndexes[0]"}, [](Batch& b) { b.indexes[0] = 1; });
  expect(kInner, {name, "srcs[2]"}, [](Batch& b) { b.srcs[2] = nullptr; });
  expect(kInner, {name, "dsts[1]"}, [](Batch& b) { b.dsts[1] = nullptr; });
  expect(kInner, {name, "dsts[1]"}, [&](Batch& b) { b.dsts[1] = places.at(kPageable, 0); });
  expect(kInner, {name, "srcs[2]"}, [&](Batch& b) { b.srcs[2] = places.at(kDevice, 0); });
}

}  // namespace memcpy_batch_checks_test
}  // namespace ropeway_test::bytes
