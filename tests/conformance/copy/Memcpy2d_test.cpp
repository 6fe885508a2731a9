// aclrtMemcpy2d and aclrtMemcpy2dAsync: what they share (rows, pitches, limits, the first checks), run for both.
#include <algorithm>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace memcpy2d_test {

constexpr size_t kMaxWidth = 5'000'000;
constexpr size_t kMaxHeight = 5'242'880;

// The two calls behind one face: `stream` is ignored by the blocking form, which is complete when it returns.
class Memcpy2d : public StreamTest, public ::testing::WithParamInterface<bool> {
 protected:
  static bool IsAsync() { return GetParam(); }
  static const char* Name() { return IsAsync() ? "aclrtMemcpy2dAsync" : "aclrtMemcpy2d"; }
  aclError Copy(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, int kind) {
    const auto k = static_cast<aclrtMemcpyKind>(kind);
    return IsAsync() ? aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, k, stream_)
                     : aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, k);
  }
  void Settle() { ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
};

INSTANTIATE_TEST_SUITE_P(Copy, Memcpy2d, ::testing::Bool(), [](const auto& tested) { return tested.param ? "Async" : "Sync"; });

// What a 2-D copy must leave in its destination.
std::vector<uint8_t> Expected(std::vector<uint8_t> dst, size_t dpitch, const std::vector<uint8_t>& src, size_t spitch, size_t width,
                              size_t height) {
  for (size_t row = 0; row < height; ++row) {
    std::copy_n(src.begin() + static_cast<ptrdiff_t>(row * spitch), width, dst.begin() + static_cast<ptrdiff_t>(row * dpitch));
  }
  return dst;
}

struct Shape {
  size_t dpitch;
  size_t spitch;
  size_t width;
  size_t height;
};

const Shape kShapes[] = {
    {64, 64, 64, 16}, {64, 128, 64, 9}, {128, 64, 33, 7}, {7, 5, 5, 101}, {1, 1, 1, 1000}, {999, 1001, 1, 3}, {300, 200, 200, 1},
};

TEST_P(Memcpy2d, MovesRowsAndLeavesTheGapsAlone) {
  for (const Shape& s : kShapes) {
    for (bool pinned_host : {true, false}) {
      SCOPED_TRACE("width " + std::to_string(s.width) + " height " + std::to_string(s.height));
      DeviceBuffer device(std::max(s.dpitch, s.spitch) * s.height);
      PinnedBuffer pinned(std::max(s.dpitch, s.spitch) * s.height);
      std::vector<uint8_t> pageable(pinned.size());
      uint8_t* host = pinned_host ? pinned.get() : pageable.data();
      const auto source = Pattern(s.spitch * s.height, 1);
      const auto old_bytes = Pattern(s.dpitch * s.height, 2);
      const auto expected = Expected(old_bytes, s.dpitch, source, s.spitch, s.width, s.height);

      std::memcpy(host, source.data(), source.size());
      device.Write(old_bytes);
      ASSERT_EQ(Copy(device.get(), s.dpitch, host, s.spitch, s.width, s.height, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      Settle();
      EXPECT_EQ(device.Read(old_bytes.size()), expected);

      device.Write(source);
      std::memcpy(host, old_bytes.data(), old_bytes.size());
      ASSERT_EQ(Copy(host, s.dpitch, device.get(), s.spitch, s.width, s.height, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      Settle();
      EXPECT_EQ(BytesAt(host, old_bytes.size()), expected);
    }
  }
}

TEST_P(Memcpy2d, ZeroExtentLooksAtNothing) {
  EXPECT_EQ(Copy(nullptr, 0, nullptr, 0, 0, 5, 99), ACL_SUCCESS);
  EXPECT_EQ(Copy(nullptr, 0, nullptr, 0, 5, 0, 99), ACL_SUCCESS);
  EXPECT_EQ(OnFreshThread([&] { return Copy(nullptr, 0, nullptr, 0, 0, SIZE_MAX, 99); }), ACL_SUCCESS);
}

TEST_P(Memcpy2d, KindsThatAreNoDirectionAreRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  for (int kind : {-1, 0, 5, 6, 7, 8}) {
    EXPECT_EQ(Copy(device.get(), 8, pinned.get(), 8, 8, 8, kind), ACL_ERROR_INVALID_PARAM) << kind;
  }
}

TEST_P(Memcpy2d, WidestAndHighestCopyWork) {
  DeviceBuffer device(kMaxHeight);
  PinnedBuffer pinned(kMaxHeight);
  const auto bytes = Pattern(kMaxHeight, 3);
  Fill(pinned, bytes);
  ASSERT_EQ(Copy(device.get(), 1, pinned.get(), 1, 1, kMaxHeight, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  Settle();
  EXPECT_TRUE(device.Read(kMaxHeight) == bytes);
  std::memset(pinned.get(), 0, kMaxHeight);
  ASSERT_EQ(Copy(pinned.get(), kMaxWidth, device.get(), kMaxWidth, kMaxWidth, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  Settle();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + kMaxWidth, pinned.get()));
}

TEST_P(Memcpy2d, AboveTheLimitsIsRejected) {
  DeviceBuffer device(8 * kMiB);
  PinnedBuffer pinned(8 * kMiB);
  constexpr auto kKind = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_EQ(Copy(device.get(), 1, pinned.get(), 1, 1, kMaxHeight + 1, kKind), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(device.get(), 6'000'000, pinned.get(), 6'000'000, kMaxWidth + 1, 1, kKind), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(device.get(), SIZE_MAX, pinned.get(), SIZE_MAX, SIZE_MAX, SIZE_MAX, kKind), ACL_ERROR_RT_PARAM_INVALID);
}

// The address of the last byte must not be computed with a wrap: huge pitches leave the block, whatever the sum looks
// like.
TEST_P(Memcpy2d, RangeThatLeavesTheBlockIsRejected) {
  DeviceBuffer device(1000);  // reserved: 1024 + 32
  PinnedBuffer pinned(4096);
  device.Write(Pattern(1000, 4));
  constexpr auto kKind = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_EQ(Copy(device.get(), 96, pinned.get(), 96, 96, 11, kKind), ACL_SUCCESS);
  Settle();
  device.Write(Pattern(1000, 4));
  EXPECT_EQ(Copy(device.get(), 97, pinned.get(), 96, 96, 11, kKind), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(device.get(), 96, pinned.get(), 96, 96, 12, kKind), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(device.get(), 96, pinned.get(), 409, 8, 11, kKind), ACL_ERROR_RT_PARAM_INVALID) << "source of 4096";
  for (size_t pitch : {size_t{1} << 63, SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX - 63}) {
    EXPECT_EQ(Copy(device.get(), pitch, pinned.get(), 16, 16, 3, kKind), ACL_ERROR_RT_PARAM_INVALID) << pitch;
    EXPECT_EQ(Copy(device.get(), 16, pinned.get(), pitch, 16, 3, kKind), ACL_ERROR_RT_PARAM_INVALID) << pitch;
  }
  Settle();
  EXPECT_EQ(device.Read(1000), Pattern(1000, 4));
}

TEST_P(Memcpy2d, LastRowNeedsItsWidthOnly) {
  DeviceBuffer device(4096 - 32);  // reserved: 4096
  PinnedBuffer pinned(4096);
  Fill(pinned, Pattern(4096, 5));
  // Two rows of 96 with a pitch of 4000: the last byte is number 4095.
  ASSERT_EQ(Copy(device.get(), 4000, pinned.get(), 4000, 96, 2, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  Settle();
  std::vector<uint8_t> last(96);
  ASSERT_EQ(aclrtMemcpy(last.data(), 96, device.at(4000), 96, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(last, BytesAt(pinned.get() + 4000, 96));
}

TEST_P(Memcpy2d, SelfCopyLeavesTheRestAlone) {
  DeviceBuffer device(1024);
  device.Write(Pattern(1024, 6));
  if (!IsAsync()) {
    // There is no shortcut for equal pointers: both sides are device memory, which the blocking form cannot do.
    EXPECT_EQ(Copy(device.get(), 64, device.get(), 64, 64, 4, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
    return;
  }
  EXPECT_EQ(Copy(device.get(), 64, device.get(), 64, 64, 4, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  Settle();
  const auto seen = device.Read(1024);
  EXPECT_TRUE(std::equal(seen.begin() + 256, seen.end(), Pattern(1024, 6).begin() + 256));
}

TEST_P(Memcpy2d, FreedMemoryIsRejected) {
  PinnedBuffer pinned(64);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  EXPECT_EQ(Copy(freed, 8, pinned.get(), 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(pinned.get(), 8, freed, 8, 8, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_P(Memcpy2d, TextNamesCallArgumentAndValue) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  constexpr auto kKind = ACL_MEMCPY_HOST_TO_DEVICE;
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), "dst"}, [&] { return Copy(nullptr, 8, pinned.get(), 8, 8, 8, kKind); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), "width", "9", "spitch", "8"},
             [&] { return Copy(device.get(), 16, pinned.get(), 8, 9, 4, kKind); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), "width", "9", "dpitch", "8"},
             [&] { return Copy(device.get(), 8, pinned.get(), 16, 9, 4, kKind); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {Name(), "height", "5242881"},
             [&] { return Copy(device.get(), 8, pinned.get(), 8, 8, kMaxHeight + 1, kKind); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {Name(), "kind", "77"}, [&] { return Copy(device.get(), 8, pinned.get(), 8, 8, 8, 77); });
}

// The blocking form.

struct Args : CallArgs {
  void* dst;
  size_t dpitch = 32;
  const void* src;
  size_t spitch = 32;
  size_t width = 16;
  size_t height = 4;
  int kind = ACL_MEMCPY_HOST_TO_DEVICE;
};

using Memcpy2dSync = StreamTest;

TEST_F(Memcpy2dSync, EarlierCheckWins) {
  DeviceBuffer device(128);
  PinnedBuffer pinned(128);
  std::vector<uint8_t> pageable(256);
  const auto before = Pattern(128, 7);
  device.Write(before);
  Fill(pinned, Pattern(128, 8));
  Args valid;
  valid.dst = device.get();
  valid.src = pinned.get();
  const std::vector<Check<Args>> checks = {
      {"width 0", ACL_SUCCESS, [](Args& a) { a.width = 0; }},
      {"height 0", ACL_SUCCESS, [](Args& a) { a.height = 0; }},
      {"dst NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dst = nullptr; }},
      {"src NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.src = nullptr; }},
      {"width above spitch", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.spitch = a.width - 1; }},
      {"width above dpitch", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dpitch = a.width - 1; }},
      {"kind host to host", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.kind = ACL_MEMCPY_HOST_TO_HOST; }},
      {"height above limit", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.height = kMaxHeight + 1; }},
      {"width above limit", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.width = a.spitch = a.dpitch = kMaxWidth + 1; }},
      {"device to device", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.kind = ACL_MEMCPY_DEVICE_TO_DEVICE; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"direction against the pointers", ACL_ERROR_RT_PARAM_INVALID,
       [&](Args& a) {
         a.src = pageable.data();
         a.kind = ACL_MEMCPY_DEVICE_TO_HOST;
       }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.height = 100; }},
  };
  auto call = [](const Args& a) {
    return aclrtMemcpy2d(a.dst, a.dpitch, a.src, a.spitch, a.width, a.height, static_cast<aclrtMemcpyKind>(a.kind));
  };
  ExpectCheckOrder("aclrtMemcpy2d", valid, checks, call, [&] { EXPECT_EQ(device.Read(128), before); });
  EXPECT_EQ(device.Read(128), Expected(before, 32, Pattern(128, 8), 32, 16, 4));
}

// Between runtime-owned memory the kind is corrected; a direction that is neither host to device nor back is refused.
TEST_F(Memcpy2dSync, OnlyHostToDeviceAndBack) {
  DeviceBuffer device_a(64);
  DeviceBuffer device_b(64);
  PinnedBuffer pinned_a(64);
  PinnedBuffer pinned_b(64);
  std::vector<uint8_t> pageable_a(64);
  std::vector<uint8_t> pageable_b(64);
  auto copy = [](void* dst, const void* src, int kind) { return aclrtMemcpy2d(dst, 8, src, 8, 8, 8, static_cast<aclrtMemcpyKind>(kind)); };
  for (int kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}) {
    SCOPED_TRACE(kind);
    EXPECT_EQ(copy(device_a.get(), pinned_a.get(), kind), ACL_SUCCESS);
    EXPECT_EQ(copy(pinned_a.get(), device_a.get(), kind), ACL_SUCCESS);
    EXPECT_EQ(copy(device_a.get(), device_b.get(), kind), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(copy(pinned_a.get(), pinned_b.get(), kind), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(copy(pageable_a.data(), pinned_a.get(), kind), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(copy(pinned_a.get(), pageable_a.data(), kind), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(copy(pageable_a.data(), pageable_b.data(), kind), ACL_ERROR_RT_PARAM_INVALID);
    const bool to_device = kind != ACL_MEMCPY_DEVICE_TO_HOST;
    const bool to_host = kind != ACL_MEMCPY_HOST_TO_DEVICE;
    EXPECT_EQ(copy(device_a.get(), pageable_a.data(), kind), to_device ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(copy(pageable_a.data(), device_a.get(), kind), to_host ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
  }
}

TEST_F(Memcpy2dSync, IsNotOrderedWithAnyStream) {
  DeviceBuffer device(64);
  const auto bytes = Pattern(64, 9);
  HeldStream held(stream_);
  EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, bytes.data(), 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), bytes);
}

}  // namespace memcpy2d_test
}  // namespace ropeway_test::bytes
