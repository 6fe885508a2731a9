// aclrtMemcpyAsync in time: pinned memory makes it asynchronous, pageable memory makes it block behind the stream, kind
// 5 takes the bytes at once, and many threads may do all of it together.
#include <algorithm>
#include <random>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace memcpy_async_order_test {

using MemcpyAsyncOrder = StreamTest;

aclError ToDevice(void* dst, const void* src, size_t count, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, count, src, count, ACL_MEMCPY_HOST_TO_DEVICE, stream);
}
aclError ToHost(void* dst, const void* src, size_t count, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, count, src, count, ACL_MEMCPY_DEVICE_TO_HOST, stream);
}
aclError OnDevice(void* dst, const void* src, size_t count, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, count, src, count, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
}

TEST_F(MemcpyAsyncOrder, PinnedAndDeviceCopiesWaitForTheStream) {
  constexpr size_t kSize = 3 * kMiB + 7;
  DeviceBuffer first(kSize);
  DeviceBuffer second(kSize);
  PinnedBuffer source(kSize);
  PinnedBuffer target(kSize);
  const auto old_bytes = Pattern(kSize, 1);
  const auto new_bytes = Pattern(kSize, 2);
  first.Write(old_bytes);
  second.Write(old_bytes);
  Fill(source, new_bytes);
  Fill(target, old_bytes);

  HeldStream held(stream_);
  ASSERT_EQ(ToDevice(first.get(), source.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(OnDevice(second.get(), first.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(ToHost(target.get(), second.get(), kSize, stream_), ACL_SUCCESS);
  EXPECT_TRUE(first.Read(kSize) == old_bytes);
  EXPECT_TRUE(second.Read(kSize) == old_bytes);
  EXPECT_TRUE(BytesAt(target.get(), kSize) == old_bytes);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_TRUE(BytesAt(target.get(), kSize) == new_bytes);
}

TEST_F(MemcpyAsyncOrder, DefaultStreamIsHeldBackLikeAnyOther) {
  DeviceBuffer device(256);
  PinnedBuffer source(256);
  Fill(source, Pattern(256, 3));
  device.Write(Pattern(256, 4));
  HeldStream held(nullptr);
  ASSERT_EQ(ToDevice(device.get(), source.get(), 256, nullptr), ACL_SUCCESS);
  EXPECT_EQ(device.Read(256), Pattern(256, 4));
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(256), Pattern(256, 3));
}

TEST_F(MemcpyAsyncOrder, PinnedBytesAreReadWhenTheTaskRuns) {
  DeviceBuffer device(256);
  PinnedBuffer source(256);
  Fill(source, Pattern(256, 5));
  HeldStream held(stream_);
  ASSERT_EQ(ToDevice(device.get(), source.get(), 256, stream_), ACL_SUCCESS);
  Fill(source, Pattern(256, 6));
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(256), Pattern(256, 6));
}

// Work of one stream runs in order: each of a long row of copies overwrites the one before.
TEST_F(MemcpyAsyncOrder, LaterCopiesOverwriteEarlierOnes) {
  constexpr int kCopies = 500;
  constexpr size_t kSize = 128;
  DeviceBuffer device(kSize);
  PinnedBuffer sources(kSize * kCopies);
  Fill(sources, Pattern(kSize * kCopies, 7));
  for (int i = 0; i < kCopies; ++i) {
    ASSERT_EQ(ToDevice(device.get(), sources.get() + i * kSize, kSize, stream_), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(kSize), BytesAt(sources.get() + (kCopies - 1) * kSize, kSize));
}

TEST_F(MemcpyAsyncOrder, PageableCopyToHostSeesTheEarlierWorkOfItsStream) {
  DeviceBuffer device(4096);
  PinnedBuffer source(4096);
  Fill(source, Pattern(4096, 8));
  std::vector<uint8_t> target(4096);
  HeldStream held(stream_);
  ASSERT_EQ(ToDevice(device.get(), source.get(), 4096, stream_), ACL_SUCCESS);
  EXPECT_EQ(held.ReleaseDuring([&] { return ToHost(target.data(), device.get(), 4096, stream_); }), ACL_SUCCESS);
  EXPECT_EQ(target, Pattern(4096, 8));
}

TEST_F(MemcpyAsyncOrder, PageableCopyToDeviceComesAfterTheEarlierWorkAndIsDoneOnReturn) {
  DeviceBuffer device(4096);
  PinnedBuffer source(4096);
  Fill(source, Pattern(4096, 9));
  std::vector<uint8_t> last = Pattern(4096, 10);
  HeldStream held(stream_);
  ASSERT_EQ(ToDevice(device.get(), source.get(), 4096, stream_), ACL_SUCCESS);
  EXPECT_EQ(held.ReleaseDuring([&] { return ToDevice(device.get(), last.data(), 4096, stream_); }), ACL_SUCCESS);
  std::fill(last.begin(), last.end(), uint8_t{0});  // the call is over: its source is free to change
  EXPECT_EQ(device.Read(4096), Pattern(4096, 10));
}

TEST_F(MemcpyAsyncOrder, PageableCopyDoesNotWaitForOtherStreams) {
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  DeviceBuffer device(64);
  const auto bytes = Pattern(64, 11);
  {
    HeldStream held(other);
    EXPECT_EQ(ToDevice(device.get(), bytes.data(), 64, stream_), ACL_SUCCESS);
    EXPECT_EQ(device.Read(64), bytes);
  }
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(MemcpyAsyncOrder, PageableCopyAcceptsAForeignStreamAndDrainsIt) {
  ForeignStream foreign;
  DeviceBuffer device(256);
  PinnedBuffer pinned(256);
  std::vector<uint8_t> pageable = Pattern(256, 12);
  EXPECT_EQ(ToDevice(device.get(), pinned.get(), 256, foreign.get()), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(ToDevice(device.get(), pageable.data(), 256, foreign.get()), ACL_SUCCESS);
  EXPECT_EQ(device.Read(256), pageable);

  aclrtContext before = nullptr;
  aclrtContext after = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  EXPECT_EQ(ToHost(pageable.data(), device.get(), 256, foreign.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetCurrentContext(&after), ACL_SUCCESS);
  EXPECT_EQ(before, after);
}

// rules/copies.md 2, step 11: the drain delivers, and so consumes, an earlier failure; the copy itself does not happen.
TEST_F(MemcpyAsyncOrder, PageableCopyReturnsTheEarlierErrorAndCopiesNothing) {
  DeviceBuffer device(256);
  device.Write(Pattern(256, 13));
  const auto bytes = Pattern(256, 14);
  QueueFailingCopy(stream_, device);
  EXPECT_EQ(ToDevice(device.get(), bytes.data(), 256, stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(device.Read(256), Pattern(256, 13));
  EXPECT_EQ(ToDevice(device.get(), bytes.data(), 256, stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(256), bytes);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(MemcpyAsyncOrder, HostCopyAsHostToDeviceBlocksBehindTheStream) {
  PinnedBuffer pinned(256);
  DeviceBuffer device(256);
  device.Write(Pattern(256, 15));
  std::vector<uint8_t> pageable(256);
  HeldStream held(stream_);
  ASSERT_EQ(ToHost(pinned.get(), device.get(), 256, stream_), ACL_SUCCESS);
  EXPECT_EQ(held.ReleaseDuring([&] { return ToDevice(pageable.data(), pinned.get(), 256, stream_); }), ACL_SUCCESS);
  EXPECT_EQ(pageable, Pattern(256, 15));
}

TEST_F(MemcpyAsyncOrder, KindFiveTakesTheBytesDuringTheCallAndMovesThemLater) {
  constexpr size_t kSize = 100 * kKiB + 3;
  DeviceBuffer from_pageable(kSize);
  DeviceBuffer from_pinned(kSize);
  const auto old_bytes = Pattern(kSize, 16);
  from_pageable.Write(old_bytes);
  from_pinned.Write(old_bytes);
  HeldStream held(stream_);
  {
    auto pageable = Pattern(kSize, 17);
    PinnedBuffer pinned(kSize);
    Fill(pinned, Pattern(kSize, 18));
    constexpr auto kKind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
    ASSERT_EQ(aclrtMemcpyAsync(from_pageable.get(), kSize, pageable.data(), kSize, kKind, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(from_pinned.get(), kSize, pinned.get(), kSize, kKind, stream_), ACL_SUCCESS);
    std::fill(pageable.begin(), pageable.end(), uint8_t{0});
    Fill(pinned, pageable);
  }
  EXPECT_TRUE(from_pageable.Read(kSize) == old_bytes);
  EXPECT_TRUE(from_pinned.Read(kSize) == old_bytes);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_TRUE(from_pageable.Read(kSize) == Pattern(kSize, 17));
  EXPECT_TRUE(from_pinned.Read(kSize) == Pattern(kSize, 18));
}

// Between other work of the stream and without any: the bytes of the call arrive in its place.
TEST_F(MemcpyAsyncOrder, KindFiveKeepsItsPlaceWhetherTheStreamIsIdleOrNot) {
  constexpr size_t kSize = 300 * kKiB + 5;
  DeviceBuffer device(kSize);
  PinnedBuffer before(kSize), seen(kSize);
  Fill(before, Pattern(kSize, 21));
  for (bool synchronised : {true, false}) {
    for (int round = 0; round < 20; ++round) {
      auto bytes = Pattern(kSize, 22 + round);
      ASSERT_EQ(ToDevice(device.get(), before.get(), kSize, stream_), ACL_SUCCESS);
      if (synchronised) {
        ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtMemcpyAsync(device.get(), kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_), ACL_SUCCESS);
      std::fill(bytes.begin(), bytes.end(), uint8_t{0});
      ASSERT_EQ(aclrtMemcpyAsync(seen.get(), kSize, device.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      const auto wanted = Pattern(kSize, 22 + round);
      ASSERT_EQ(std::memcmp(seen.get(), wanted.data(), kSize), 0) << round;
    }
  }
}

TEST_F(MemcpyAsyncOrder, KindFiveInsistsOnHostToDevice) {
  DeviceBuffer device(64);
  DeviceBuffer other(64);
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64);
  ForeignStream foreign;
  constexpr auto kKind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
  void* const hosts[] = {pinned.get(), pageable.data()};
  EXPECT_EQ(aclrtMemcpyAsync(other.get(), 64, device.get(), 64, kKind, stream_), ACL_ERROR_RT_PARAM_INVALID);
  for (void* host : hosts) {
    EXPECT_EQ(aclrtMemcpyAsync(host, 64, device.get(), 64, kKind, stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtMemcpyAsync(host, 64, pinned.get() + 1, 1, kKind, stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), 64, host, 64, kKind, foreign.get()), ACL_ERROR_RT_STREAM_CONTEXT);
  }
  EXPECT_EQ(aclrtMemcpyAsync(device.get(), 4096, pageable.data(), 4096, kKind, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemcpyAsyncOrder, OddAddressesAndLengthsCopyExactly) {
  constexpr size_t kSize = 4096;
  DeviceBuffer device(kSize);
  PinnedBuffer pinned(kSize);
  const auto source = Pattern(kSize, 19);
  Fill(pinned, source);
  for (size_t offset : {1, 5, 33, 63}) {
    for (size_t count : {1, 3, 63, 65, 1021, 4096 - 63}) {
      SCOPED_TRACE("offset " + std::to_string(offset) + " count " + std::to_string(count));
      auto expected = Pattern(kSize, 20);
      device.Write(expected);
      std::memcpy(expected.data() + offset, source.data() + (63 - offset), count);
      ASSERT_EQ(ToDevice(device.at(offset), pinned.get() + (63 - offset), count, stream_), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_EQ(device.Read(kSize), expected);
    }
  }
}

TEST_F(MemcpyAsyncOrder, OverlapSucceedsAndLeavesTheRestAlone) {
  constexpr size_t kSize = 4 * kMiB;
  constexpr size_t kCount = 2 * kMiB;
  DeviceBuffer device(kSize);
  const auto before = Pattern(kSize, 21);
  for (auto [dst, src] : {std::pair<size_t, size_t>{600, 500}, {500, 600}}) {
    device.Write(before);
    ASSERT_EQ(OnDevice(device.at(dst), device.at(src), kCount, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    const auto after = device.Read(kSize);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + dst, before.begin()));
    EXPECT_TRUE(std::equal(after.begin() + dst + kCount, after.end(), before.begin() + dst + kCount));
  }
}

TEST_F(MemcpyAsyncOrder, LargeCopyCrossesEveryPiece) {
  constexpr size_t kSize = Large(33 * kMiB + 11, 5 * kMiB + 11);
  DeviceBuffer device(kSize);
  PinnedBuffer pinned(kSize);
  Fill(pinned, Pattern(kSize, 22));
  ASSERT_EQ(ToDevice(device.get(), pinned.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  std::memset(pinned.get(), 0, kSize);
  ASSERT_EQ(ToHost(pinned.get(), device.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(BytesAt(pinned.get(), kSize) == Pattern(kSize, 22));
}

// One stream per thread, seeded operations of every kind on the thread's own share, checked against a plain host model.
class Walk {
 public:
  Walk(DeviceBuffer& device, size_t base, uint32_t seed)
      : device_(device), base_(base), random_(seed), staging_(kShare), back_(kShare), model_(kShare) {
    EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    Fill(staging_, Pattern(kShare, seed));
    EXPECT_EQ(ToDevice(device_.at(base_), model_.data(), kShare, stream_), ACL_SUCCESS);
  }
  ~Walk() { EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS); }

  void Step() {
    const size_t offset = random_() % kShare;
    const size_t count = 1 + random_() % (kShare - offset);
    auto* target = device_.at(base_ + offset);
    const auto place = model_.begin() + static_cast<ptrdiff_t>(offset);
    switch (random_() % 5) {
      case 0:
        ASSERT_EQ(ToDevice(target, staging_.get(), count, stream_), ACL_SUCCESS);
        std::copy(staging_.get(), staging_.get() + count, place);
        break;
      case 1: {
        const auto bytes = Pattern(count, random_());
        ASSERT_EQ(ToDevice(target, bytes.data(), count, stream_), ACL_SUCCESS);
        std::copy(bytes.begin(), bytes.end(), place);
        break;
      }
      case 2: {
        const size_t half = count / 2;
        ASSERT_EQ(OnDevice(target, device_.at(base_ + offset + half), half, stream_), ACL_SUCCESS);
        std::copy(place + static_cast<ptrdiff_t>(half), place + static_cast<ptrdiff_t>(2 * half), place);
        break;
      }
      case 3: {
        std::vector<uint8_t> seen(count);
        ASSERT_EQ(ToHost(seen.data(), target, count, stream_), ACL_SUCCESS);
        ASSERT_TRUE(std::equal(seen.begin(), seen.end(), place));
        break;
      }
      case 4:
        ASSERT_EQ(ToHost(back_.get(), device_.at(base_), kShare, stream_), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        ASSERT_EQ(BytesAt(back_.get(), kShare), model_);
        break;
    }
  }

  static constexpr size_t kShare = 16 * kKiB;

 private:
  DeviceBuffer& device_;
  size_t base_;
  std::mt19937 random_;
  PinnedBuffer staging_;
  PinnedBuffer back_;
  std::vector<uint8_t> model_;
  aclrtStream stream_ = nullptr;
};

TEST_F(MemcpyAsyncOrder, ManyThreadsWithTheirOwnStreams) {
  constexpr int kThreads = 16;
  DeviceBuffer device(kThreads * Walk::kShare);
  OnDeviceThreads(kThreads, [&](int thread) {
    Walk walk(device, static_cast<size_t>(thread) * Walk::kShare, 7000 + static_cast<uint32_t>(thread));
    for (int i = 0; i < 200 && !HasFatalFailure(); ++i) {
      SCOPED_TRACE("thread " + std::to_string(thread) + " operation " + std::to_string(i));
      walk.Step();
    }
  });
}

TEST_F(MemcpyAsyncOrder, ManyThreadsOnOneStream) {
  constexpr int kThreads = 16;
  constexpr int kCopies = 100;
  constexpr size_t kSize = 256;
  DeviceBuffer device(kThreads * kSize);
  PinnedBuffer sources(kThreads * kCopies * kSize);
  Fill(sources, Pattern(sources.size(), 23));
  OnDeviceThreads(kThreads, [&](int thread) {
    for (int i = 0; i < kCopies; ++i) {
      const auto* source = sources.get() + static_cast<size_t>(thread * kCopies + i) * kSize;
      ASSERT_EQ(ToDevice(device.at(static_cast<size_t>(thread) * kSize), source, kSize, stream_), ACL_SUCCESS);
    }
  });
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  for (int thread = 0; thread < kThreads; ++thread) {
    std::vector<uint8_t> seen(kSize);
    ASSERT_EQ(ToHost(seen.data(), device.at(static_cast<size_t>(thread) * kSize), kSize, stream_), ACL_SUCCESS);
    const auto* last = sources.get() + static_cast<size_t>(thread * kCopies + kCopies - 1) * kSize;
    EXPECT_EQ(seen, BytesAt(last, kSize)) << "thread " << thread;
  }
}

}  // namespace memcpy_async_order_test
}  // namespace ropeway_test::bytes
