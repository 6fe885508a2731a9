// aclrtValueWrite: a 64-bit store to device memory in stream order.
#include <memory>

#include "tests/conformance/copy/call_checks.h"
#include "tests/conformance/runtime/value_word.h"

namespace ropeway_test {
namespace value_write_test {

using ValueWrite = StreamTest;

std::vector<uint8_t> BytesOf(uint64_t value) { return bytes::BytesAt(&value, sizeof(value)); }

TEST_F(ValueWrite, EarlierCheckWins) {
  DeviceBuffer block(64);
  FillToItsEnd(block, Pattern(kEndOf64, 1));
  ExpectValueChecks(
      "aclrtValueWrite", block, 0, 1, stream_,
      [](void* address, uint32_t flag, aclrtStream stream) { return aclrtValueWrite(address, 0x1122334455667788, flag, stream); },
      [&](aclrtStream stream) {
        EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        EXPECT_EQ(block.Read(kEndOf64), Pattern(kEndOf64, 1));
      });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(8), BytesOf(0x1122334455667788));
}

TEST_F(ValueWrite, OtherFlagsAndBadStreamsAreRejected) {
  Word word(7);
  bytes::BadStreams bad;
  for (uint32_t flag : {1u, 2u, 3u, 4u, 0x80000000u, UINT32_MAX}) {
    EXPECT_EQ(aclrtValueWrite(word.get(), 1, flag, stream_), ACL_ERROR_RT_PARAM_INVALID) << flag;
  }
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(WriteTo(word, 1, stream.handle), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(word.Get(), 7u);
}

TEST_F(ValueWrite, AddressMustBeDeviceMemory) {
  PinnedBuffer pinned(64);
  std::vector<uint64_t> pageable(8), registered(8);
  ASSERT_EQ(aclrtHostRegisterV2(registered.data(), 64, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  auto* nowhere = reinterpret_cast<void*>(uintptr_t{8});
  void* const wrong[] = {pinned.get(), pageable.data(), registered.data(), freed, nowhere};
  for (void* address : wrong) {
    EXPECT_EQ(aclrtValueWrite(address, 1, 0, stream_), ACL_ERROR_RT_PARAM_INVALID) << address;
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(registered.data()), ACL_SUCCESS);
}

TEST_F(ValueWrite, EightBytesMustLieInTheBlock) {
  DeviceBuffer block(64);
  FillToItsEnd(block, Pattern(kEndOf64, 2));
  for (size_t short_by = 1; short_by <= 8; ++short_by) {
    void* address = block.at(kEndOf64 - 8 + short_by);
    EXPECT_EQ(aclrtValueWrite(address, 1, 0, stream_), ACL_ERROR_RT_PARAM_INVALID) << short_by;
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(kEndOf64), Pattern(kEndOf64, 2)) << "not even the bytes that are in the block";
  EXPECT_EQ(aclrtValueWrite(block.at(kEndOf64 - 8), 1, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(ValueWrite, WritesEightBytesAndNothingElse) {
  DeviceBuffer block(24);
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{0x0123456789ABCDEF}, uint64_t{1} << 63, UINT64_MAX}) {
    auto expected = Pattern(24, 3);
    block.Write(expected);
    ASSERT_EQ(aclrtValueWrite(block.at(8), value, 0, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    std::memcpy(expected.data() + 8, &value, 8);
    EXPECT_EQ(block.Read(24), expected) << value;
  }
}

TEST_F(ValueWrite, MisalignedAddressWorks) {
  DeviceBuffer block(256);
  for (size_t offset : {1, 2, 3, 4, 5, 6, 7, 57, 60, 63, 127}) {
    auto expected = Pattern(256, 4);
    block.Write(expected);
    ASSERT_EQ(aclrtValueWrite(block.at(offset), 0x1122334455667788, 0, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    const auto value = BytesOf(0x1122334455667788);
    std::memcpy(expected.data() + offset, value.data(), 8);
    EXPECT_EQ(block.Read(256), expected) << offset;
  }
}

TEST_F(ValueWrite, KeepsItsPlaceInTheStream) {
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    Word word(5);
    PinnedBuffer seen(16);
    std::memset(seen.get(), 0, 16);
    Hold hold(stream);
    ASSERT_EQ(aclrtMemcpyAsync(seen.get(), 8, word.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
    ASSERT_EQ(WriteTo(word, 6, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(seen.get() + 8, 8, word.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
    EXPECT_EQ(word.Get(), 5u) << "the stream is held back";
    hold.Open();
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(word.Get(), 6u);
    EXPECT_EQ(bytes::BytesAt(seen.get(), 8), BytesOf(5));
    EXPECT_EQ(bytes::BytesAt(seen.get() + 8, 8), BytesOf(6));
  }
}

TEST_F(ValueWrite, LaterWritesOverwriteEarlierOnes) {
  Word word;
  for (uint64_t i = 1; i <= 500; ++i) ASSERT_EQ(WriteTo(word, i, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Get(), 500u);
}

TEST_F(ValueWrite, BlockFreedUnderAQueuedWriteIsSafe) {
  void* word = nullptr;
  ASSERT_EQ(aclrtMalloc(&word, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  bytes::HeldStream held(stream_);
  ASSERT_EQ(aclrtValueWrite(word, 1, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(word), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWrite(word, 1, 0, stream_), ACL_ERROR_RT_PARAM_INVALID) << "gone for every later call";
  std::vector<std::unique_ptr<Word>> later;
  for (int i = 0; i < 32; ++i) later.push_back(std::make_unique<Word>(77));
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  for (const auto& other : later) EXPECT_EQ(other->Get(), 77u) << "the write hit somebody else's word";
}

TEST_F(ValueWrite, TextNamesCallArgumentAndValue) {
  Word word;
  bytes::ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtValueWrite", "devAddr"}, [&] { return aclrtValueWrite(nullptr, 1, 0, stream_); });
  bytes::ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtValueWrite", "flag", "77"},
                    [&] { return aclrtValueWrite(word.get(), 1, 77, stream_); });
  bytes::ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtValueWrite", "devAddr"}, [&] { return aclrtValueWrite(&word, 1, 0, stream_); });
}

}  // namespace value_write_test
}  // namespace ropeway_test
