// aclrtMemset and aclrtMemsetAsync. Device memory is set in stream order, host memory at once.
#include <random>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace memset_test {

// The two calls behind one face: `stream` is ignored by the blocking form.
class Memset : public StreamTest, public ::testing::WithParamInterface<bool> {
 protected:
  static bool IsAsync() { return GetParam(); }
  static const char* Name() { return IsAsync() ? "aclrtMemsetAsync" : "aclrtMemset"; }
  aclError Set(void* ptr, size_t max_count, int32_t value, size_t count) {
    return IsAsync() ? aclrtMemsetAsync(ptr, max_count, value, count, stream_) : aclrtMemset(ptr, max_count, value, count);
  }
  void Settle() { ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
};

INSTANTIATE_TEST_SUITE_P(Copy, Memset, ::testing::Bool(), [](const auto& tested) { return tested.param ? "Async" : "Sync"; });

TEST_P(Memset, LowByteOfTheValueFillsExactlyTheRange) {
  constexpr size_t kSize = 4096;
  DeviceBuffer device(kSize);
  PinnedBuffer pinned(kSize);
  for (int32_t value : {0, 1, 0x7F, 0xAB, 0x1AB, -1, INT32_MIN, INT32_MAX}) {
    for (size_t offset : {0, 1, 63}) {
      for (size_t count : {1, 2, 31, 64, 1023, 4096 - 63}) {
        SCOPED_TRACE("value " + std::to_string(value) + " offset " + std::to_string(offset) + " count " + std::to_string(count));
        auto expected = Pattern(kSize, 1);
        device.Write(expected);
        Fill(pinned, expected);
        std::memset(expected.data() + offset, value & 0xFF, count);
        ASSERT_EQ(Set(device.at(offset), count, value, count), ACL_SUCCESS);
        ASSERT_EQ(Set(pinned.get() + offset, kSize - offset, value, count), ACL_SUCCESS);
        Settle();
        EXPECT_EQ(device.Read(kSize), expected);
        EXPECT_EQ(BytesAt(pinned.get(), kSize), expected);
      }
    }
  }
}

TEST_P(Memset, LargeRange) {
  constexpr size_t kSize = Large(70 * kMiB + 5, 5 * kMiB + 5);
  DeviceBuffer device(kSize);
  ASSERT_EQ(Set(device.get(), kSize, 0x5C, kSize), ACL_SUCCESS);
  Settle();
  EXPECT_TRUE(device.Read(kSize) == std::vector<uint8_t>(kSize, 0x5C));
}

TEST_P(Memset, ZeroCountLooksAtNothing) {
  EXPECT_EQ(Set(nullptr, 0, 0, 0), ACL_SUCCESS);
  EXPECT_EQ(OnFreshThread([&] { return Set(nullptr, 0, 0, 0); }), ACL_SUCCESS);
}

TEST_P(Memset, RangeThatLeavesTheBlockIsRejected) {
  DeviceBuffer device(100);  // reserved: 128 + 32
  PinnedBuffer pinned(100);  // reserved: 128
  const auto before = Pattern(100, 2);
  device.Write(before);
  Fill(pinned, before);
  for (size_t count : {size_t{161}, size_t{1} << 40, SIZE_MAX, SIZE_MAX - 63}) {
    EXPECT_EQ(Set(device.get(), SIZE_MAX, 0, count), ACL_ERROR_RT_PARAM_INVALID) << count;
    EXPECT_EQ(Set(pinned.get(), SIZE_MAX, 0, count), ACL_ERROR_RT_PARAM_INVALID) << count;
  }
  EXPECT_EQ(Set(device.at(60), 101, 0, 101), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Set(pinned.get() + 60, 69, 0, 69), ACL_ERROR_RT_PARAM_INVALID);
  Settle();
  EXPECT_EQ(device.Read(100), before);
  EXPECT_EQ(BytesAt(pinned.get(), 100), before);
  EXPECT_EQ(Set(device.get(), 160, 0, 160), ACL_SUCCESS) << "the padding belongs to the block";
  EXPECT_EQ(Set(pinned.get(), 128, 0, 128), ACL_SUCCESS);
  Settle();
}

TEST_P(Memset, FreedMemoryIsRejected) {
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  EXPECT_EQ(Set(freed, 64, 0, 64), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_P(Memset, TextNamesCallArgumentAndValue) {
  DeviceBuffer device(64);
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), "devPtr"}, [&] { return Set(nullptr, 64, 0, 64); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {Name(), "count", "63", "maxCount", "62"}, [&] { return Set(device.get(), 62, 0, 63); });
}

// What only the blocking form does.

struct Args : CallArgs {
  void* ptr;
  size_t max_count = 64;
  size_t count = 64;
  aclrtStream stream = nullptr;
};

using MemsetSync = StreamTest;

TEST_F(MemsetSync, EarlierCheckWins) {
  DeviceBuffer device(64);
  device.Write(Pattern(64, 3));
  Args valid;
  valid.ptr = device.get();
  const std::vector<Check<Args>> checks = {
      {"count 0", ACL_SUCCESS, [](Args& a) { a.count = 0; }},
      {"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.ptr = nullptr; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"count above maxCount", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.max_count = a.count - 1; }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = a.max_count = 4096; }},
  };
  auto call = [](const Args& a) { return aclrtMemset(a.ptr, a.max_count, 0x33, a.count); };
  ExpectCheckOrder("aclrtMemset", valid, checks, call, [&] { EXPECT_EQ(device.Read(64), Pattern(64, 3)); });
  EXPECT_EQ(device.Read(64), std::vector<uint8_t>(64, 0x33));
}

TEST_F(MemsetSync, IsNotOrderedWithAnyStream) {
  DeviceBuffer device(64);
  HeldStream held(stream_);
  EXPECT_EQ(aclrtMemset(device.get(), 64, 0x44, 64), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), std::vector<uint8_t>(64, 0x44));
}

// What only the asynchronous form does.

using MemsetAsync = StreamTest;

TEST_F(MemsetAsync, EarlierCheckWins) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  BadStreams bad;
  ForeignStream foreign;
  const auto before = Pattern(64, 4);
  for (void* place : {device.get(), static_cast<void*>(pinned.get())}) {
    device.Write(before);
    Fill(pinned, before);
    Args valid;
    valid.ptr = place;
    valid.stream = stream_;
    const std::vector<Check<Args>> checks = {
        {"count 0", ACL_SUCCESS, [](Args& a) { a.count = 0; }},
        {"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.ptr = nullptr; }},
        {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
        {"count above maxCount", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.max_count = a.count - 1; }},
        {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
        {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
        {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = a.max_count = 4096; }},
    };
    auto call = [](const Args& a) { return aclrtMemsetAsync(a.ptr, a.max_count, 0x55, a.count, a.stream); };
    ExpectCheckOrder("aclrtMemsetAsync", valid, checks, call, [&] {
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_EQ(device.Read(64), before);
      EXPECT_EQ(BytesAt(pinned.get(), 64), before);
    });
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    std::vector<uint8_t> seen(64);
    ASSERT_EQ(aclrtMemcpy(seen.data(), 64, place, 64, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    EXPECT_EQ(seen, std::vector<uint8_t>(64, 0x55));
  }
}

TEST_F(MemsetAsync, HandleThatIsNoStreamIsRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  BadStreams bad;
  for (const auto& stream : bad.list()) {
    SCOPED_TRACE(stream.what);
    EXPECT_EQ(aclrtMemsetAsync(device.get(), 64, 0, 64, stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtMemsetAsync(pinned.get(), 64, 0, 64, stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtMemsetAsync(device.get(), 64, 0, 0, stream.handle), ACL_SUCCESS);
  }
}

TEST_F(MemsetAsync, DeviceMemoryIsSetInStreamOrder) {
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    DeviceBuffer device(256);
    PinnedBuffer back(256);
    device.Write(Pattern(256, 5));
    HeldStream held(stream);
    ASSERT_EQ(aclrtMemsetAsync(device.get(), 256, 0x66, 128, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(back.get(), 256, device.get(), 256, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(device.get(), 256, 0x77, 256, stream), ACL_SUCCESS);
    EXPECT_EQ(device.Read(256), Pattern(256, 5));
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
    auto expected = Pattern(256, 5);
    std::memset(expected.data(), 0x66, 128);
    EXPECT_EQ(BytesAt(back.get(), 256), expected);
    EXPECT_EQ(device.Read(256), std::vector<uint8_t>(256, 0x77));
  }
}

// rules/copies.md 5: the calling thread writes host memory itself, ahead of what is queued.
TEST_F(MemsetAsync, HostMemoryIsSetAtOnce) {
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemsetAsync(pinned.get(), 64, 0x12, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(pageable.data(), 64, 0x34, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(pinned.get(), 64), std::vector<uint8_t>(64, 0x12));
  EXPECT_EQ(pageable, std::vector<uint8_t>(64, 0x34));
}

TEST_F(MemsetAsync, ManyThreads) {
  constexpr int kThreads = 16;
  constexpr size_t kShare = 4096;
  DeviceBuffer device(kThreads * kShare);
  OnDeviceThreads(kThreads, [&](int thread) {
    std::mt19937 random(40 + static_cast<uint32_t>(thread));
    auto* mine = device.at(static_cast<size_t>(thread) * kShare);
    std::vector<uint8_t> model(kShare);
    ASSERT_EQ(aclrtMemset(mine, kShare, 0, kShare), ACL_SUCCESS);
    for (int i = 0; i < 200; ++i) {
      const size_t offset = random() % kShare;
      const size_t count = 1 + random() % (kShare - offset);
      const auto value = static_cast<int32_t>(random());
      ASSERT_EQ(aclrtMemsetAsync(mine + offset, count, value, count, stream_), ACL_SUCCESS);
      std::memset(model.data() + offset, value & 0xFF, count);
    }
    std::vector<uint8_t> seen(kShare);
    ASSERT_EQ(aclrtMemcpyAsync(seen.data(), kShare, mine, kShare, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    EXPECT_EQ(seen, model) << "thread " << thread;
  });
}

}  // namespace memset_test
}  // namespace ropeway_test::bytes
