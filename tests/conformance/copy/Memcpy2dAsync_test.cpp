// aclrtMemcpy2dAsync: the order of its checks, its own direction rules, and its behaviour in time. Rows, pitches and
// limits are tested together with the blocking form in Memcpy2d_test.cpp.
#include <algorithm>
#include <random>

#include "tests/conformance/copy/places.h"

namespace ropeway_test::bytes {
namespace memcpy2d_async_test {

using Memcpy2dAsync = StreamTest;

struct Args : CallArgs {
  void* dst;
  size_t dpitch = 32;
  const void* src;
  size_t spitch = 32;
  size_t width = 16;
  size_t height = 4;
  int kind = ACL_MEMCPY_HOST_TO_DEVICE;
  aclrtStream stream;
};

aclError Call(const Args& a) {
  const auto kind = static_cast<aclrtMemcpyKind>(a.kind);
  return aclrtMemcpy2dAsync(a.dst, a.dpitch, a.src, a.spitch, a.width, a.height, kind, a.stream);
}

// Eight rows of eight bytes without gaps.
aclError CopySquare(void* dst, const void* src, int kind, aclrtStream stream) {
  return aclrtMemcpy2dAsync(dst, 8, src, 8, 8, 8, static_cast<aclrtMemcpyKind>(kind), stream);
}

TEST_F(Memcpy2dAsync, EarlierCheckWins) {
  DeviceBuffer device(128);
  PinnedBuffer pinned(128);
  std::vector<uint8_t> pageable(256);
  BadStreams bad;
  ForeignStream foreign;
  const auto before = Pattern(128, 1);
  device.Write(before);
  Fill(pinned, Pattern(128, 2));
  Args valid;
  valid.dst = device.get();
  valid.src = pinned.get();
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      {"width 0", ACL_SUCCESS, [](Args& a) { a.width = 0; }},
      {"height 0", ACL_SUCCESS, [](Args& a) { a.height = 0; }},
      {"dst NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dst = nullptr; }},
      {"src NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.src = nullptr; }},
      {"width above spitch", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.spitch = a.width - 1; }},
      {"width above dpitch", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dpitch = a.width - 1; }},
      {"kind host to host", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.kind = ACL_MEMCPY_HOST_TO_HOST; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"height above limit", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.height = 5'242'881; }},
      {"width above limit", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.width = a.spitch = a.dpitch = 5'000'001; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"direction against the pointers", ACL_ERROR_RT_PARAM_INVALID,
       [&](Args& a) {
         a.src = pageable.data();
         a.kind = ACL_MEMCPY_DEVICE_TO_HOST;
       }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.height = 100; }},
  };
  ExpectCheckOrder("aclrtMemcpy2dAsync", valid, checks, Call, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(device.Read(128), before);
  });
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  auto after = before;
  for (size_t row = 0; row < 4; ++row) std::memcpy(after.data() + row * 32, pinned.get() + row * 32, 16);
  EXPECT_EQ(device.Read(128), after);
}

TEST_F(Memcpy2dAsync, HandleThatIsNoStreamIsRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64);
  BadStreams bad;
  for (const auto& stream : bad.list()) {
    SCOPED_TRACE(stream.what);
    for (const void* host : {static_cast<const void*>(pinned.get()), static_cast<const void*>(pageable.data())}) {
      EXPECT_EQ(CopySquare(device.get(), host, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
    }
  }
}

// rules/copies.md 4, step 5: the missing default stream is noticed before the missing context, with its own code.
TEST_F(Memcpy2dAsync, NullStreamWithoutContextHasItsOwnCode) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  auto call = [&] { return CopySquare(device.get(), pinned.get(), ACL_MEMCPY_HOST_TO_DEVICE, nullptr); };
  EXPECT_EQ(OnFreshThread(call), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(call(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(Memcpy2dAsync, KindIsReconciledWithThePointers) {
  constexpr aclError kRefused = ACL_ERROR_RT_PARAM_INVALID, kOuter = ACL_ERROR_INVALID_PARAM;
  // Device to device with a pageable side is not specified.
  const std::vector<PlacePair> rows = {
      {kPinned, kDevice, {kOuter, kMoved, kMoved, kMoved, kMoved}},
      {kDevice, kPinned, {kOuter, kMoved, kMoved, kMoved, kMoved}},
      {kPinned, kPinned, {kOuter, kRefused, kRefused, kRefused, kRefused}},
      {kDevice, kDevice, {kOuter, kMoved, kMoved, kMoved, kMoved}},
      {kPageable, kDevice, {kOuter, kMoved, kRefused, kUnspecified, kMoved}},
      {kDevice, kPageable, {kOuter, kRefused, kMoved, kUnspecified, kMoved}},
      {kPinned, kPageable, {kOuter, kRefused, kRefused, kRefused, kRefused}},
      {kPageable, kPinned, {kOuter, kRefused, kRefused, kRefused, kRefused}},
      {kPageable, kPageable, {kOuter, kRefused, kRefused, kUnspecified, kRefused}},
  };
  ExpectByKind(rows, 64, [&](void* dst, void* src, int kind, aclError answer) {
    EXPECT_EQ(CopySquare(dst, src, kind, stream_), answer);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  });
}

TEST_F(Memcpy2dAsync, PinnedAndDeviceCopiesWaitForTheStream) {
  DeviceBuffer first(64);
  DeviceBuffer second(64);
  PinnedBuffer source(64);
  PinnedBuffer target(64);
  const auto old_bytes = Pattern(64, 5);
  first.Write(old_bytes);
  second.Write(old_bytes);
  Fill(source, Pattern(64, 6));
  Fill(target, old_bytes);
  HeldStream held(stream_);
  ASSERT_EQ(CopySquare(first.get(), source.get(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(CopySquare(second.get(), first.get(), ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(CopySquare(target.get(), second.get(), ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  EXPECT_EQ(first.Read(64), old_bytes);
  EXPECT_EQ(second.Read(64), old_bytes);
  EXPECT_EQ(BytesAt(target.get(), 64), old_bytes);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(target.get(), 64), Pattern(64, 6));
}

TEST_F(Memcpy2dAsync, PageableCopySeesTheEarlierWorkAndIsDoneOnReturn) {
  DeviceBuffer device(64);
  PinnedBuffer source(64);
  Fill(source, Pattern(64, 7));
  std::vector<uint8_t> target(64);
  HeldStream held(stream_);
  ASSERT_EQ(CopySquare(device.get(), source.get(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  auto call = [&] { return CopySquare(target.data(), device.get(), ACL_MEMCPY_DEVICE_TO_HOST, stream_); };
  EXPECT_EQ(held.ReleaseDuring(call), ACL_SUCCESS);
  EXPECT_EQ(target, Pattern(64, 7));
}

TEST_F(Memcpy2dAsync, PageableCopyReturnsTheEarlierErrorAndCopiesNothing) {
  DeviceBuffer device(64);
  device.Write(Pattern(64, 8));
  const auto bytes = Pattern(64, 9);
  QueueFailingCopy(stream_, device);
  EXPECT_EQ(CopySquare(device.get(), bytes.data(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(device.Read(64), Pattern(64, 8));
  EXPECT_EQ(CopySquare(device.get(), bytes.data(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), bytes);
}

TEST_F(Memcpy2dAsync, PageableCopyAcceptsAForeignStream) {
  ForeignStream foreign;
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  const auto pageable = Pattern(64, 10);
  EXPECT_EQ(CopySquare(device.get(), pinned.get(), ACL_MEMCPY_HOST_TO_DEVICE, foreign.get()), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(CopySquare(device.get(), pageable.data(), ACL_MEMCPY_HOST_TO_DEVICE, foreign.get()), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), pageable);
}

TEST_F(Memcpy2dAsync, OverlapSucceedsAndLeavesTheRestAlone) {
  DeviceBuffer device(4096);
  device.Write(Pattern(4096, 11));
  // Rows 0..7 of 64 bytes at 256, copied half a row further.
  ASSERT_EQ(aclrtMemcpy2dAsync(device.at(256 + 32), 64, device.at(256), 64, 64, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const auto before = Pattern(4096, 11);
  const auto after = device.Read(4096);
  EXPECT_TRUE(std::equal(after.begin(), after.begin() + 288, before.begin()));
  EXPECT_TRUE(std::equal(after.begin() + 800, after.end(), before.begin() + 800));
}

TEST_F(Memcpy2dAsync, ManyRowsOnTheDevice) {
  constexpr size_t kRows = 5000;
  DeviceBuffer from(kRows * 24);
  DeviceBuffer to(kRows * 16);
  const auto bytes = Pattern(kRows * 24, 12);
  from.Write(bytes);
  ASSERT_EQ(aclrtMemcpy2dAsync(to.get(), 16, from.get(), 24, 16, kRows, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const auto seen = to.Read(kRows * 16);
  for (size_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(std::memcmp(seen.data() + row * 16, bytes.data() + row * 24, 16), 0) << "row " << row;
  }
}

TEST_F(Memcpy2dAsync, ManyThreads) {
  constexpr size_t kPitch = 256;
  constexpr size_t kRows = 16;
  constexpr size_t kShare = kPitch * kRows;
  constexpr int kThreads = 16;
  DeviceBuffer device(kThreads * kShare);
  OnDeviceThreads(kThreads, [&](int thread) {
    std::mt19937 random(300 + static_cast<uint32_t>(thread));
    auto* mine = device.at(static_cast<size_t>(thread) * kShare);
    PinnedBuffer pinned(kShare);
    Fill(pinned, Pattern(kShare, random()));
    std::vector<uint8_t> model(kShare);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpy(mine, kShare, model.data(), kShare, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    for (int i = 0; i < 200; ++i) {
      const size_t width = 1 + random() % kPitch;
      const size_t height = 1 + random() % kRows;
      const size_t spitch = width + random() % (kPitch - width + 1);
      ASSERT_EQ(aclrtMemcpy2dAsync(mine, kPitch, pinned.get(), spitch, width, height, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
      for (size_t row = 0; row < height; ++row) {
        std::memcpy(model.data() + row * kPitch, pinned.get() + row * spitch, width);
      }
      std::vector<uint8_t> seen(kShare);
      ASSERT_EQ(aclrtMemcpy2dAsync(seen.data(), kPitch, mine, kPitch, kPitch, kRows, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
      ASSERT_EQ(seen, model) << "thread " << thread << " operation " << i;
    }
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  });
}

}  // namespace memcpy2d_async_test
}  // namespace ropeway_test::bytes
