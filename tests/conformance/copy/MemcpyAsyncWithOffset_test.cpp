// aclrtMemcpyAsyncWithOffset: two-level pointers. The task reads both cells when it runs, adds the offsets and copies.
// What is only found to be wrong then is tested in OffsetAtRunTime_test.cpp.
#include <algorithm>

#include "tests/conformance/copy/offset_cells.h"

namespace ropeway_test::bytes {
namespace memcpy_async_with_offset_test {

using MemcpyAsyncWithOffset = OffsetTest;

struct Args : CallArgs {
  void** dst;
  size_t dest_max = 128;
  size_t dst_offset = 16;
  const void** src;
  size_t count = 64;
  size_t src_offset = 8;
  int kind = kInner;
  aclrtStream stream;
};

aclError Call(const Args& a) {
  return aclrtMemcpyAsyncWithOffset(a.dst, a.dest_max, a.dst_offset, a.src, a.count, a.src_offset, static_cast<aclrtMemcpyKind>(a.kind),
                                    a.stream);
}

TEST_F(MemcpyAsyncWithOffset, EarlierCheckWins) {
  BadStreams bad;
  ForeignStream foreign;
  Args valid;
  valid.dst = memory_->cells.dst();
  valid.src = memory_->cells.src();
  valid.stream = stream_;
  constexpr aclError kInvalid = ACL_ERROR_RT_PARAM_INVALID;
  auto unlimited = [](Args& a) { a.dest_max = SIZE_MAX; };
  const std::vector<Check<Args>> checks = {
      {"count 0", ACL_SUCCESS, [](Args& a) { a.count = 0; }},
      {"kind 3", kInvalid, [](Args& a) { a.kind = 3; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"dst NULL", kInvalid, [](Args& a) { a.dst = nullptr; }},
      {"src NULL", kInvalid, [](Args& a) { a.src = nullptr; }},
      {"count above destMax", kInvalid, [](Args& a) { a.dest_max = a.count - 1; }},
      {"count above 4 GiB", kInvalid, [&](Args& a) { unlimited(a), a.count = 4 * kGiB + 1; }},
      {"srcDataOffset too far", kInvalid, [](Args& a) { a.src_offset = kFarthest + 1; }},
      {"dstDataOffset too far", kInvalid, [&](Args& a) { unlimited(a), a.dst_offset = kFarthest + 1; }},
      {"dstDataOffset at destMax", kInvalid, [](Args& a) { a.dst_offset = a.dest_max; }},
      {"no room behind dstDataOffset", kInvalid, [](Args& a) { a.dst_offset = a.dest_max - a.count + 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
  };
  ExpectCheckOrder("aclrtMemcpyAsyncWithOffset", valid, checks, Call, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.get()), ACL_SUCCESS);
    ExpectNothingMoved();
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(memory_->dst.Read(kSize), Moved(16, 64, 8));
}

TEST_F(MemcpyAsyncWithOffset, OtherKindsAndBadStreamsAreRejected) {
  BadStreams bad;
  Args args;
  args.dst = memory_->cells.dst();
  args.src = memory_->cells.src();
  args.stream = stream_;
  for (int kind : {-1, 0, 1, 2, 3, 4, 5, 7, 8, 1000}) {
    args.kind = kind;
    EXPECT_EQ(Call(args), ACL_ERROR_RT_PARAM_INVALID) << kind;
  }
  args.kind = kInner;
  for (const auto& stream : bad.list()) {
    args.stream = stream.handle;
    EXPECT_EQ(Call(args), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
}

TEST_F(MemcpyAsyncWithOffset, ZeroCountLooksAtNothing) {
  auto* bogus = reinterpret_cast<aclrtStream>(uintptr_t{0x10});
  auto call = [&] { return aclrtMemcpyAsyncWithOffset(nullptr, 0, SIZE_MAX, nullptr, 0, SIZE_MAX, ACL_MEMCPY_DEFAULT, bogus); };
  EXPECT_EQ(call(), ACL_SUCCESS);
  EXPECT_EQ(OnFreshThread(call), ACL_SUCCESS);
}

TEST_F(MemcpyAsyncWithOffset, OffsetsAreAdded) {
  struct Row {
    size_t dst_offset, count, src_offset;
  };
  const Row rows[] = {{0, kSize, 0}, {0, 1, 0}, {255, 1, 255}, {13, 100, 0}, {0, 100, 13}, {3, 199, 57}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::to_string(row.src_offset) + " to " + std::to_string(row.dst_offset));
    memory_->dst.Write(Pattern(kSize, 2));
    ASSERT_EQ(Copy(kSize, row.dst_offset, row.count, row.src_offset), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(memory_->dst.Read(kSize), Moved(row.dst_offset, row.count, row.src_offset));
  }
}

TEST_F(MemcpyAsyncWithOffset, DestMaxLimitsOffsetAndCountTogether) {
  EXPECT_EQ(Copy(100, 99, 1, 0), ACL_SUCCESS);
  EXPECT_EQ(Copy(100, 40, 60, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  memory_->dst.Write(Pattern(kSize, 2));
  const std::pair<size_t, size_t> too_far[] = {{100, 1}, {101, 1}, {40, 61}, {1, 100}, {0, 101}, {SIZE_MAX, 2}};
  for (auto [offset, count] : too_far) {
    EXPECT_EQ(Copy(100, offset, count, 0), ACL_ERROR_RT_PARAM_INVALID) << offset << " + " << count;
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ExpectNothingMoved();
}

TEST_F(MemcpyAsyncWithOffset, CellsAreReadWhenTheTaskRuns) {
  Memory& m = *memory_;
  DeviceBuffer late_src(kSize), late_dst(kSize);
  late_src.Write(Pattern(kSize, 5));
  HeldStream held(stream_);
  ASSERT_EQ(Copy(kSize, 0, kSize, 0), ACL_SUCCESS);
  m.cells.PointTo(late_dst.get(), late_src.get());
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(late_dst.Read(kSize), Pattern(kSize, 5));
  ExpectNothingMoved();
}

TEST_F(MemcpyAsyncWithOffset, CellsMayBeWrittenByTheStreamItself) {
  constexpr size_t kCopies = 50;
  Memory& m = *memory_;
  DeviceBuffer targets(kCopies * kSize);
  PinnedBuffer addresses(kCopies * 8);
  for (size_t i = 0; i < kCopies; ++i) {
    const uint64_t number = Number(targets.at(i * kSize));
    std::memcpy(addresses.get() + i * 8, &number, 8);
    ASSERT_EQ(aclrtMemcpyAsync(m.cells.dst(), 8, addresses.get() + i * 8, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    ASSERT_EQ(Copy(kSize, i, 64, i), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  for (size_t i = 0; i < kCopies; ++i) {
    EXPECT_EQ(ReadBytes(targets.at(i * kSize + i), 64), BytesAt(Pattern(kSize, 1).data() + i, 64)) << i;
  }
  ExpectNothingMoved();
}

TEST_F(MemcpyAsyncWithOffset, OneCellForBothSidesIsNoSelfCopy) {
  Memory& m = *memory_;
  auto** cell = const_cast<void**>(m.cells.src());
  ASSERT_EQ(aclrtMemcpyAsyncWithOffset(cell, kSize, 128, m.cells.src(), 100, 0, kInner, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  auto expected = Pattern(kSize, 1);
  std::copy_n(expected.begin(), 100, expected.begin() + 128);
  EXPECT_EQ(m.src.Read(kSize), expected);
}

TEST_F(MemcpyAsyncWithOffset, NullStreamIsTheDefaultStream) {
  Memory& m = *memory_;
  HeldStream held(nullptr);
  ASSERT_EQ(aclrtMemcpyAsyncWithOffset(m.cells.dst(), kSize, 0, m.cells.src(), kSize, 0, kInner, nullptr), ACL_SUCCESS);
  ExpectNothingMoved();
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.dst.Read(kSize), Pattern(kSize, 1));
}

TEST_F(MemcpyAsyncWithOffset, TextNamesCallArgumentAndValue) {
  Memory& m = *memory_;
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpyAsyncWithOffset", "dst"},
             [&] { return aclrtMemcpyAsyncWithOffset(nullptr, 64, 0, m.cells.src(), 64, 0, kInner, stream_); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpyAsyncWithOffset", "count", "64", "destMax", "63"},
             [&] { return Copy(63, 0, 64, 0); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpyAsyncWithOffset", "dstDataOffset", "777"}, [&] { return Copy(777, 777, 64, 0); });
}

}  // namespace memcpy_async_with_offset_test
}  // namespace ropeway_test::bytes
