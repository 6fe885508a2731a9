// Copies and memsets with managed memory on a side: no kind is checked, they keep to the stream's order, and what leaves the
// block is refused like everywhere else.
#include "tests/conformance/memory/managed_block.h"

namespace ropeway_test::bytes {
namespace managed_copy_test {

constexpr size_t kSize = 4096;
constexpr size_t kBlock = 2 * kMiB;  // what a managed block of any of these sizes has

using ManagedCopy = StreamTest;

// Memory of each class, to and from which managed memory is copied.
struct Partners {
  DeviceBuffer device{kSize};
  PinnedBuffer pinned{kSize};
  ManagedBuffer managed{kSize};
  std::vector<void*> all() const { return {device.get(), pinned.get(), managed.get()}; }
};

std::vector<uint8_t> ReadBack(const void* address) {
  std::vector<uint8_t> bytes(kSize);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), kSize, address, kSize, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  return bytes;
}

TEST_F(ManagedCopy, SynchronousCopiesGoEveryWay) {
  Partners partners;
  ManagedBuffer source(kSize), back(kSize);
  uint32_t seed = 1;
  for (void* partner : partners.all()) {
    const std::vector<uint8_t> bytes = Pattern(kSize, seed++);
    std::memcpy(source.get(), bytes.data(), kSize);
    ASSERT_EQ(aclrtMemcpy(partner, kSize, source.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpy(back.get(), kSize, partner, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(back.get(), kSize), bytes);
  }
}

TEST_F(ManagedCopy, AnyKindIsQueuedInOrder) {
  Partners partners;
  ManagedBuffer source(kSize), back(kSize);
  uint32_t seed = 10;
  for (auto kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
    for (void* partner : partners.all()) {
      const std::vector<uint8_t> bytes = Pattern(kSize, seed++);
      std::memset(back.get(), 0, kSize);
      HeldStream held(stream_);
      ASSERT_EQ(aclrtMemcpyAsync(partner, kSize, source.get(), kSize, kind, stream_), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemcpyAsync(back.get(), kSize, partner, kSize, kind, stream_), ACL_SUCCESS);
      std::memcpy(source.get(), bytes.data(), kSize);  // before the stream comes to it
      EXPECT_EQ(BytesAt(back.get(), kSize), std::vector<uint8_t>(kSize, 0)) << "the call did not wait for the stream";
      ASSERT_EQ(held.Release(), ACL_SUCCESS);
      EXPECT_EQ(BytesAt(back.get(), kSize), bytes) << "kind " << kind;
    }
  }
}

TEST_F(ManagedCopy, HostToHostIsRefusedByItsKind) {
  Partners partners;
  ManagedBuffer block(kSize);
  for (void* partner : partners.all()) {
    EXPECT_EQ(aclrtMemcpyAsync(partner, kSize, block.get(), kSize, ACL_MEMCPY_HOST_TO_HOST, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtMemcpyAsync(block.get(), kSize, partner, kSize, ACL_MEMCPY_HOST_TO_HOST, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  }
}

TEST_F(ManagedCopy, WithPageableMemoryTheCallWaits) {
  ManagedBuffer block(kSize);
  for (auto kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}) {
    std::vector<uint8_t> bytes = Pattern(kSize, static_cast<uint32_t>(kind)), back(kSize);
    {
      HeldStream held(stream_);
      ASSERT_EQ(held.ReleaseDuring([&] { return aclrtMemcpyAsync(block.get(), kSize, bytes.data(), kSize, kind, stream_); }), ACL_SUCCESS);
    }
    EXPECT_EQ(BytesAt(block.get(), kSize), bytes);
    ASSERT_EQ(aclrtMemcpyAsync(back.data(), kSize, block.get(), kSize, kind, stream_), ACL_SUCCESS);
    EXPECT_EQ(back, bytes);
  }
}

TEST_F(ManagedCopy, DeviceToDeviceWithPageableMemoryFailsWhenItRuns) {
  ManagedBuffer block(kSize);
  std::vector<uint8_t> pageable = Pattern(kSize, 5);
  std::memset(block.get(), 9, kSize);
  ASSERT_EQ(aclrtMemcpyAsync(block.get(), kSize, pageable.data(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(BytesAt(block.get(), kSize), std::vector<uint8_t>(kSize, 9));
}

TEST_F(ManagedCopy, StagedCopiesTakeItAsSourceOnly) {
  DeviceBuffer device(kSize);
  PinnedBuffer pinned(kSize);
  ManagedBuffer block(kSize);
  const std::vector<uint8_t> bytes = Pattern(kSize, 6);
  std::memcpy(block.get(), bytes.data(), kSize);
  const auto kind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), kSize, pinned.get(), kSize, kind, stream_), ACL_ERROR_RT_PARAM_INVALID);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), kSize, block.get(), kSize, kind, stream_), ACL_SUCCESS);
  std::memset(block.get(), 0, kSize);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(kSize), bytes);
}

TEST_F(ManagedCopy, RangesStayInTheirBlock) {
  DeviceBuffer device(kBlock + 64);
  ManagedBuffer block(1);
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), kBlock, device.get(), kBlock, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS);
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"dst", "managed"},
             [&] { return aclrtMemcpyAsync(block.get() + 1, kBlock, device.get(), kBlock, ACL_MEMCPY_DEFAULT, stream_); });
  EXPECT_EQ(aclrtMemcpyAsync(device.get(), kBlock + 1, block.get(), kBlock + 1, ACL_MEMCPY_DEFAULT, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device.get(), kBlock + 1, block.get(), kBlock + 1, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(block.get(), kBlock + 1, 1, kBlock + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetAsync(block.get() + 1, kBlock, 1, kBlock, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS) << "onto itself";
}

TEST_F(ManagedCopy, StreamOfAnotherContextIsRefused) {
  ForeignStream foreign;
  DeviceBuffer device(kSize);
  ManagedBuffer block(kSize);
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), kSize, device.get(), kSize, ACL_MEMCPY_DEFAULT, foreign.get()), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtMemsetAsync(block.get(), kSize, 1, kSize, foreign.get()), ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(ManagedCopy, MemsetKeepsToTheOrder) {
  ManagedBuffer block(kSize);
  ASSERT_EQ(aclrtMemset(block.get(), kSize, 0x11, kSize), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(block.get(), kSize), std::vector<uint8_t>(kSize, 0x11));
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), kSize, 0x22, kSize, stream_), ACL_SUCCESS);
  EXPECT_EQ(block.get()[0], 0x11) << "set ahead of its stream";
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(block.get(), kSize), std::vector<uint8_t>(kSize, 0x22));
}

TEST_F(ManagedCopy, WordsAreNotSet) {
  ManagedBuffer block(kSize);
  ExpectText(ACL_ERROR_INVALID_PARAM, {"ptr", "managed"}, [&] { return aclrtMemsetD32(block.get(), kSize, 1, 4); });
  EXPECT_EQ(aclrtMemsetD32Async(block.get(), kSize, 1, 4, stream_), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ManagedCopy, RowsGoEveryWay) {
  constexpr size_t kPitch = 256, kWidth = 100, kHeight = 4;
  Partners partners;
  ManagedBuffer block(kSize);
  const std::vector<uint8_t> bytes = Pattern(kSize, 8);
  for (void* partner : partners.all()) {
    ASSERT_EQ(aclrtMemset(partner, kSize, 0, kSize), ACL_SUCCESS);
    std::memcpy(block.get(), bytes.data(), kSize);
    ASSERT_EQ(aclrtMemcpy2dAsync(partner, kPitch, block.get(), kPitch, kWidth, kHeight, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    std::vector<uint8_t> expected(kSize, 0);
    for (size_t row = 0; row < kHeight; ++row) std::memcpy(&expected[row * kPitch], &bytes[row * kPitch], kWidth);
    EXPECT_EQ(ReadBack(partner), expected);
    std::memset(block.get(), 0, kSize);
    ASSERT_EQ(aclrtMemcpy2d(block.get(), kPitch, partner, kPitch, kWidth, kHeight, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(block.get(), kSize), expected);
    EXPECT_EQ(aclrtMemcpy2d(block.get(), kPitch, partner, kPitch, kWidth, kHeight, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID)
        << "which way?";
  }
}

TEST_F(ManagedCopy, RowsWithPageableMemoryAreDoneOnReturn) {
  ManagedBuffer block(kSize);
  std::vector<uint8_t> bytes = Pattern(kSize, 9);
  ASSERT_EQ(aclrtMemcpy2dAsync(block.get(), kSize, bytes.data(), kSize, kSize, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(block.get(), kSize), bytes);
}

// A batch goes between host and device, and managed memory is neither, whatever is declared.
TEST_F(ManagedCopy, BatchesRefuseIt) {
  DeviceBuffer device(kSize);
  ManagedBuffer block(kSize);
  for (auto type : {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_LOCATION_TYPE_MANAGED}) {
    void* dsts[] = {device.get()};
    void* srcs[] = {block.get()};
    size_t sizes[] = {kSize}, indexes[] = {0}, fail = 77;
    aclrtMemcpyBatchAttr attr = {};
    attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attr.srcLoc = {0, type};
    EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 1, &attr, indexes, 1, &fail, stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(fail, 0u);
    fail = 77;
    EXPECT_EQ(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 1, &attr, indexes, 1, &fail), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(fail, 0u);
  }
}

TEST_F(ManagedCopy, GraphsReplayItAndNoticeWhenItIsGone) {
  DeviceBuffer device(kSize);
  void* block = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&block, kSize, 1), ACL_SUCCESS);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block, kSize, 0x33, kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), kSize, block, kSize, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(kSize), std::vector<uint8_t>(kSize, 0x33));
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
}

}  // namespace managed_copy_test
}  // namespace ropeway_test::bytes
