// aclrtReduceAsync: dst = dst op src on the device, in stream order.
#include <algorithm>
#include <cmath>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace reduce_async_test {

using ReduceAsync = StreamTest;

constexpr auto kSum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
constexpr auto kMax = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
constexpr auto kMin = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
constexpr auto kEqual = ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL;

struct Args : CallArgs {
  void* dst;
  const void* src;
  uint64_t count = 64;
  int kind = kSum;
  int type = ACL_FLOAT;
  aclrtStream stream;
  void* reserve = nullptr;
};

aclError Call(const Args& a) {
  return aclrtReduceAsync(a.dst, a.src, a.count, static_cast<aclrtReduceKind>(a.kind), static_cast<aclDataType>(a.type), a.stream,
                          a.reserve);
}

TEST_F(ReduceAsync, EarlierCheckWins) {
  DeviceBuffer dst(64);
  DeviceBuffer src(64);
  BadStreams bad;
  ForeignStream foreign;
  const std::vector<float> ones(16, 1.0f);
  ASSERT_EQ(aclrtMemcpy(dst.get(), 64, ones.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(src.get(), 64, ones.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  const auto before = dst.Read(64);
  Args valid;
  valid.dst = dst.get();
  valid.src = src.get();
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      {"dst NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dst = nullptr; }},
      {"src NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.src = nullptr; }},
      {"reserve set", ACL_ERROR_INVALID_PARAM, [&](Args& a) { a.reserve = &bad; }},
      {"type double", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.type = ACL_DOUBLE; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"count 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = 0; }},
      {"kind 9", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.kind = 9; }},
      {"sum above 4 GiB", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = 4 * kGiB + 4; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
      {"misaligned", ACL_ERROR_RT_ADDR_UNALIGNED, [&](Args& a) { a.dst = dst.at(2); }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = 4096; }},
  };
  ExpectCheckOrder("aclrtReduceAsync", valid, checks, Call, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(dst.Read(64), before);
  });
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const std::vector<float> twos(16, 2.0f);
  EXPECT_EQ(dst.Read(64), BytesAt(twos.data(), 64));
}

TEST_F(ReduceAsync, OtherKindsAndTypesAreRejected) {
  DeviceBuffer dst(64);
  DeviceBuffer src(64);
  Args args;
  args.dst = dst.get();
  args.src = src.get();
  args.stream = stream_;
  for (int kind : {-1, 0, 9, 14, 1000}) {
    args.kind = kind;
    EXPECT_EQ(Call(args), ACL_ERROR_RT_PARAM_INVALID) << "kind " << kind;
  }
  args.kind = kSum;
  for (int type : {static_cast<int>(ACL_DT_UNDEFINED), static_cast<int>(ACL_INT64), static_cast<int>(ACL_UINT64),
                   static_cast<int>(ACL_DOUBLE), static_cast<int>(ACL_BOOL), static_cast<int>(ACL_COMPLEX64), 1000}) {
    args.type = type;
    EXPECT_EQ(Call(args), ACL_ERROR_INVALID_PARAM) << "type " << type;
  }
}

TEST_F(ReduceAsync, HugeCountsAreRejected) {
  DeviceBuffer dst(64);
  DeviceBuffer src(64);
  Args args;
  args.dst = dst.get();
  args.src = src.get();
  args.stream = stream_;
  for (uint64_t count : {uint64_t{4 * kGiB}, uint64_t{4 * kGiB + 4}, UINT64_MAX, UINT64_MAX - 63}) {
    for (int kind : {static_cast<int>(kSum), static_cast<int>(kMax)}) {
      args.count = count;
      args.kind = kind;
      EXPECT_EQ(Call(args), ACL_ERROR_RT_PARAM_INVALID) << count;
    }
  }
}

TEST_F(ReduceAsync, AlignmentFollowsTheType) {
  DeviceBuffer dst(128);
  DeviceBuffer src(128);
  const auto zeros = std::vector<uint8_t>(128);
  dst.Write(zeros);
  src.Write(zeros);
  struct Row {
    aclDataType type;
    size_t align;
  };
  for (Row row : {Row{ACL_FLOAT, 4}, Row{ACL_INT32, 4}, Row{ACL_FLOAT16, 2}, Row{ACL_INT16, 2}, Row{ACL_BF16, 2}, Row{ACL_INT8, 1}}) {
    for (size_t offset = 0; offset < 5; ++offset) {
      SCOPED_TRACE("type " + std::to_string(row.type) + " offset " + std::to_string(offset));
      const aclError expected = offset % row.align == 0 ? ACL_SUCCESS : ACL_ERROR_RT_ADDR_UNALIGNED;
      EXPECT_EQ(aclrtReduceAsync(dst.at(offset), src.get(), 64, kSum, row.type, stream_, nullptr), expected);
      EXPECT_EQ(aclrtReduceAsync(dst.get(), src.at(offset), 64, kSum, row.type, stream_, nullptr), expected);
    }
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(ReduceAsync, HandleThatIsNoStreamIsRejected) {
  DeviceBuffer dst(64);
  DeviceBuffer src(64);
  BadStreams bad;
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(aclrtReduceAsync(dst.get(), src.get(), 64, kSum, ACL_FLOAT, stream.handle, nullptr), ACL_ERROR_RT_INVALID_HANDLE)
        << stream.what;
  }
}

TEST_F(ReduceAsync, OperandsMustBeDeviceMemory) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  std::vector<float> pageable(16);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  for (void* wrong : {static_cast<void*>(pinned.get()), static_cast<void*>(pageable.data()), freed}) {
    EXPECT_EQ(aclrtReduceAsync(device.get(), wrong, 64, kSum, ACL_FLOAT, stream_, nullptr), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtReduceAsync(wrong, device.get(), 64, kSum, ACL_FLOAT, stream_, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  }
}

// Runs one reduction of `dst` with `src` and returns what is in dst afterwards.
template <typename T>
std::vector<T> Reduced(std::vector<T> dst, const std::vector<T>& src, aclrtReduceKind kind, aclDataType type, aclrtStream stream) {
  const size_t size = dst.size() * sizeof(T);
  DeviceBuffer dst_device(size);
  DeviceBuffer src_device(size);
  EXPECT_EQ(aclrtMemcpy(dst_device.get(), size, dst.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(src_device.get(), size, src.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtReduceAsync(dst_device.get(), src_device.get(), size, kind, type, stream, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(dst.data(), size, dst_device.get(), size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return dst;
}

// Small whole numbers: exact in every type, whatever its precision and its overflow rule.
template <typename T>
void ExpectArithmetic(aclDataType type, aclrtStream stream, T (*encode)(int)) {
  SCOPED_TRACE("type " + std::to_string(type));
  constexpr size_t kCount = 1001;
  std::vector<T> a, b, sum, max, min;
  for (size_t i = 0; i < kCount; ++i) {
    const int x = static_cast<int>(i % 41) - 20;
    const int y = static_cast<int>(i % 37) - 18;
    a.push_back(encode(x));
    b.push_back(encode(y));
    sum.push_back(encode(x + y));
    max.push_back(encode(std::max(x, y)));
    min.push_back(encode(std::min(x, y)));
  }
  EXPECT_EQ(Reduced(a, b, kSum, type, stream), sum);
  EXPECT_EQ(Reduced(a, b, kMax, type, stream), max);
  EXPECT_EQ(Reduced(a, b, kMin, type, stream), min);
}

// The bits of a small whole number in a float format with `exponent_bits` and `mantissa_bits`.
uint16_t HalfBits(int value, int exponent_bits, int mantissa_bits) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(static_cast<double>(value)), &exponent);  // in [0.5, 1)
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int mantissa = static_cast<int>((fraction * 2 - 1) * (1 << mantissa_bits));
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | ((exponent - 1 + bias) << mantissa_bits) | mantissa);
}

TEST_F(ReduceAsync, SumMaxAndMin) {
  ExpectArithmetic<float>(ACL_FLOAT, stream_, [](int v) { return static_cast<float>(v); });
  ExpectArithmetic<int32_t>(ACL_INT32, stream_, [](int v) { return static_cast<int32_t>(v); });
  ExpectArithmetic<int16_t>(ACL_INT16, stream_, [](int v) { return static_cast<int16_t>(v); });
  ExpectArithmetic<int8_t>(ACL_INT8, stream_, [](int v) { return static_cast<int8_t>(v); });
  ExpectArithmetic<uint16_t>(ACL_FLOAT16, stream_, [](int v) { return HalfBits(v, 5, 10); });
  ExpectArithmetic<uint16_t>(ACL_BF16, stream_, [](int v) { return HalfBits(v, 8, 7); });
}

// EQUAL and the remaining types: either the product reduces them, or it says 207000 and does nothing.
TEST_F(ReduceAsync, UnsupportedCombinationsDoNothing) {
  DeviceBuffer dst(64);
  DeviceBuffer src(64);
  for (auto type : {ACL_FLOAT, ACL_INT4, ACL_UINT8, ACL_UINT16, ACL_UINT32}) {
    for (auto kind : {kSum, kMax, kMin, kEqual}) {
      SCOPED_TRACE("type " + std::to_string(type) + " kind " + std::to_string(kind));
      dst.Write(Pattern(64, 1));
      src.Write(Pattern(64, 2));
      const aclError code = aclrtReduceAsync(dst.get(), src.get(), 64, kind, type, stream_, nullptr);
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      if (code == ACL_SUCCESS) continue;
      EXPECT_EQ(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(dst.Read(64), Pattern(64, 1));
    }
  }
}

TEST_F(ReduceAsync, RunsInStreamOrder) {
  DeviceBuffer total(64);
  DeviceBuffer part(64);
  const std::vector<int32_t> ones(16, 1);
  const std::vector<int32_t> zeros(16, 0);
  ASSERT_EQ(aclrtMemcpy(part.get(), 64, ones.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    ASSERT_EQ(aclrtMemcpy(total.get(), 64, zeros.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    HeldStream held(stream);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(aclrtReduceAsync(total.get(), part.get(), 64, kSum, ACL_INT32, stream, nullptr), ACL_SUCCESS);
    }
    EXPECT_EQ(total.Read(64), BytesAt(zeros.data(), 64));
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
    const std::vector<int32_t> hundreds(16, 100);
    EXPECT_EQ(total.Read(64), BytesAt(hundreds.data(), 64));
  }
}

TEST_F(ReduceAsync, TextNamesCallArgumentAndValue) {
  DeviceBuffer dst(64);
  DeviceBuffer src(64);
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtReduceAsync", "dst"},
             [&] { return aclrtReduceAsync(nullptr, src.get(), 64, kSum, ACL_FLOAT, stream_, nullptr); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtReduceAsync", "type", "11"},
             [&] { return aclrtReduceAsync(dst.get(), src.get(), 64, kSum, ACL_DOUBLE, stream_, nullptr); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtReduceAsync", "kind", "99"},
             [&] { return aclrtReduceAsync(dst.get(), src.get(), 64, static_cast<aclrtReduceKind>(99), ACL_FLOAT, stream_, nullptr); });
}

}  // namespace reduce_async_test
}  // namespace ropeway_test::bytes
