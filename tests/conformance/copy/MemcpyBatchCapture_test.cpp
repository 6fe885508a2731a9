// A batch on a stream that is being captured: it is recorded whole, and a replay moves the bytes of that time. What the
// capture modes forbid is tested with the graphs.
#include <memory>

#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_capture_test {

class MemcpyBatchCapture : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&captured_), ACL_SUCCESS);
    const aclError begun = aclmdlRICaptureBegin(captured_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    if (begun == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) GTEST_SKIP() << "this library does not capture";
    ASSERT_EQ(begun, ACL_SUCCESS);
    capturing_ = true;
  }
  void TearDown() override {
    End();
    if (model_ != nullptr) EXPECT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(captured_), ACL_SUCCESS);
    BatchTest::TearDown();
  }
  void End() {
    if (capturing_) EXPECT_EQ(aclmdlRICaptureEnd(captured_, &model_), ACL_SUCCESS);
    capturing_ = false;
  }
  void Capture(const Batch& batch) { ExpectBatch(GetParam(), batch, captured_, ACL_SUCCESS, kNoItem); }
  void Replay() {
    ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
    Finish();
  }

  aclrtStream captured_ = nullptr;
  aclmdlRI model_ = nullptr;
  bool capturing_ = false;
};

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchCapture, ::testing::Values(kBatchAsync, kBatchAsyncV2), FormName);

// The arrays are gone before the capture ends, and each replay finds other bytes.
TEST_P(MemcpyBatchCapture, ReplayMovesTheBytesOfThatTimeEachTime) {
  DeviceBuffer device(1024);
  PinnedBuffer source(1024), target(1024);
  {
    auto in = std::make_unique<Batch>(BatchToDevice());
    auto out = std::make_unique<Batch>(BatchToHost());
    for (size_t i = 0; i < 16; ++i) {
      in->Add(device.at(i * 64), source.get() + (15 - i) * 64, 64);
      out->Add(target.get() + i * 64, device.at(i * 64), 64);
    }
    Capture(*in);
    Capture(*out);
  }
  End();
  for (uint32_t replay : {1, 2}) {
    Fill(source, Pattern(1024, replay));
    std::memset(target.get(), 0, 1024);
    Replay();
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(BytesAt(target.get() + i * 64, 64), BytesAt(source.get() + (15 - i) * 64, 64)) << "item " << i;
    }
  }
}

// Items that touch are moved together only when they lie in the same blocks: a replay asks for each block.
TEST_P(MemcpyBatchCapture, ItemsMayLieInBlocksThatHappenToTouch) {
  constexpr size_t kBytes = 4096;
  std::vector<void*> blocks(64);
  for (void*& block : blocks) ASSERT_EQ(aclrtMallocWithCfg(&block, kBytes, ACL_MEM_TYPE_HIGH_BAND_WIDTH, nullptr), ACL_SUCCESS);
  PinnedBuffer source(blocks.size() * kBytes);
  Fill(source, Pattern(source.size(), 3));
  Batch batch = BatchToDevice();
  for (size_t i = 0; i < blocks.size(); ++i) batch.Add(blocks[i], source.get() + i * kBytes, kBytes);
  Capture(batch);
  End();
  Replay();
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::vector<uint8_t> bytes(kBytes);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), kBytes, blocks[i], kBytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(bytes, BytesAt(source.get() + i * kBytes, kBytes)) << "block " << i;
    EXPECT_EQ(aclrtFree(blocks[i]), ACL_SUCCESS);
  }
}

TEST_P(MemcpyBatchCapture, CapturedBatchDoesNotRun) {
  DeviceBuffer device(256);
  PinnedBuffer target(256);
  std::memset(target.get(), 7, 256);
  Capture(BatchToHost().Add(target.get(), device.get(), 100).Add(target.get() + 128, device.at(128), 100));
  End();
  ASSERT_EQ(aclrtSynchronizeStream(captured_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(target.get(), 256), std::vector<uint8_t>(256, 7));
}

}  // namespace memcpy_batch_capture_test
}  // namespace ropeway_test::bytes
