// One batch of a million small items: every byte arrives, and while the batch waits in a stream it costs no more than
// 32 bytes an item.
#include <malloc.h>

#include "tests/conformance/copy/batch_args.h"
#include "tests/support/sanitized.h"

namespace ropeway_test {
namespace {

using bytes::Batch;
using bytes::HeldStream;

constexpr size_t kItems = Large(1'000'000, 100'000);
constexpr size_t kItem = 16;
constexpr size_t kBytes = kItems * kItem;

class BatchMillion : public StreamTest {
 protected:
  // Item i goes to place i * step: with a step that shares no factor with the number of items each place is met once,
  // and no item but with step 1 follows its neighbour on both sides.
  static size_t PlaceOf(size_t item, size_t step) { return item * step % kItems * kItem; }

  static Batch ToDevice(const DeviceBuffer& device, const PinnedBuffer& host, size_t step) {
    Batch batch = bytes::BatchToDevice();
    for (auto* array : {&batch.sizes, &batch.dest_maxs}) array->reserve(kItems);
    for (auto* array : {&batch.dsts, &batch.srcs}) array->reserve(kItems);
    for (size_t i = 0; i < kItems; ++i) batch.Add(device.at(PlaceOf(i, step)), host.get() + i * kItem, kItem);
    return batch;
  }

  // Submits while the stream is held back, lets the batch run, and compares all bytes.
  void ExpectArrives(size_t step) {
    DeviceBuffer device(kBytes);
    PinnedBuffer host(kBytes);
    const auto source = Pattern(kBytes, 1);
    bytes::Fill(host, source);
    ASSERT_EQ(aclrtMemset(device.get(), kBytes, 0, kBytes), ACL_SUCCESS);
    {
      HeldStream held(stream_);
      bytes::ExpectBatch(bytes::kBatchAsync, ToDevice(device, host, step), stream_, ACL_SUCCESS, SIZE_MAX);
      ASSERT_EQ(held.Release(), ACL_SUCCESS);
    }
    std::vector<uint8_t> expected(kBytes);
    for (size_t i = 0; i < kItems; ++i) std::memcpy(&expected[PlaceOf(i, step)], &source[i * kItem], kItem);
    EXPECT_TRUE(device.Read(kBytes) == expected);
  }
};

constexpr size_t kScattered = 7919;

TEST_F(BatchMillion, ScatteredItemsArrive) { ExpectArrives(kScattered); }

TEST_F(BatchMillion, NeighbouringItemsArrive) { ExpectArrives(1); }

TEST_F(BatchMillion, QueuedBatchTakesAtMost32BytesAnItem) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's allocator does not count for mallinfo2";
  constexpr size_t kMost = 32 * kItems;
  constexpr size_t kTask = 64 << 10;  // for the task itself, and for what other threads of the runtime do meanwhile
  auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  std::memset(host.get(), 1, kBytes);
  const Batch batch = ToDevice(device, host, kScattered);
  // What a first batch brings into being for good is not what the measured one costs.
  ASSERT_EQ(bytes::kBatchAsyncV2.Call(bytes::BatchToDevice().Add(device.get(), host.get(), 1), stream_, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);

  HeldStream held(stream_);
  const size_t before = in_use();
  ASSERT_EQ(bytes::kBatchAsyncV2.Call(batch, stream_, nullptr), ACL_SUCCESS);
  const size_t after = in_use();
  EXPECT_LE(after, before + kMost + kTask) << "for each item: " << (static_cast<double>(after) - static_cast<double>(before)) / kItems;
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
}

}  // namespace
}  // namespace ropeway_test
