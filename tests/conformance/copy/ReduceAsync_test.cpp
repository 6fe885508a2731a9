// aclrtReduceAsync: dst = dst op src on the device, in stream order.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

// --- To the last bit ----------------------------------------------------------------------------------------------------
// What the operands are of, and the patterns that float formats treat in their own way.
struct Format {
  aclDataType type;
  size_t size;
  uint32_t infinity;  // 0: integers
  std::vector<uint32_t> special;
  uint64_t expected[4];  // hashes of sum, max, min, equal: those of the CPU engine
};

uint32_t Random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return static_cast<uint32_t>(*state >> 16);
}

uint64_t HashOf(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

constexpr size_t kElements = 65536 + 37;

// Every 16-bit pattern meets many others; half of the others are special. No two infinities of opposite signs: what becomes of those is the
// processor's choice.
void MakeOperands(const Format& format, std::vector<uint8_t>* a, std::vector<uint8_t>* b) {
  uint64_t state = 20261118;
  for (size_t i = 0; i < kElements; ++i) {
    uint32_t x = format.size == 4 ? Random(&state) : static_cast<uint32_t>(i), y = Random(&state);
    if (format.size == 4 && i % 3 == 0) x = format.special[Random(&state) % format.special.size()];
    if (i % 2 == 0) y = format.special[Random(&state) % format.special.size()];
    const uint32_t sign = 1u << (format.size * 8 - 1), mask = sign | (sign - 1);
    if (format.infinity != 0 && (x & (sign - 1)) == format.infinity && (y & (sign - 1)) == format.infinity) y = x;
    x &= mask;
    y &= mask;
    const auto* const from_x = reinterpret_cast<const uint8_t*>(&x);
    const auto* const from_y = reinterpret_cast<const uint8_t*>(&y);
    a->insert(a->end(), from_x, from_x + format.size);
    b->insert(b->end(), from_y, from_y + format.size);
  }
}

const std::vector<Format>& Formats() {
  static const std::vector<uint32_t> kNumbers = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
  static const std::vector<Format> kFormats = {
      {ACL_FLOAT,
       4,
       0x7f800000,
       {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x33800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
        0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x7fffffff},
       {0xfc185c110fd76fbc, 0x5a49b0c2aa7a471b, 0x29fabfa9e81614c9, 0x6b12327bc9d31595}},
      {ACL_FLOAT16,
       2,
       0x7c00,
       {0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfd55},
       {0x29e654c9b2f632ed, 0x5d589f00fa6a37f5, 0xc600a180d2590d46, 0x6b53625f32343c8d}},
      {ACL_BF16,
       2,
       0x7f80,
       {0, 0x8000, 1, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0xffa5},
       {0xc173499a4ae175bb, 0x862e0ca12d940259, 0xbbf7d02ea5388daa, 0x4538a16cac29858d}},
      {ACL_INT8, 1, 0, kNumbers, {0x67c67d1d02466100, 0x88c4bd135f3b18a8, 0xf106f6eda408a8f5, 0xcf248c54d5548dd4}},
      {ACL_INT16, 2, 0, kNumbers, {0xbfb9e326148fa995, 0xfe762583b9c1e2ae, 0x16793e9f9a06de82, 0x6b4c131dfaca608d}},
      {ACL_INT32, 4, 0, kNumbers, {0x8c02836d854f7566, 0xf2a19bde3b3472b7, 0x26cd2d66463a3592, 0x0a10dfde368c0a55}},
      {ACL_UINT8, 1, 0, kNumbers, {0x67c67d1d02466100, 0x662d4e0a1a2a0d8e, 0xbc83a5166dfc3a67, 0xcf248c54d5548dd4}},
      {ACL_UINT16, 2, 0, kNumbers, {0xbfb9e326148fa995, 0x2ab7d7b79d27a409, 0xbc8ef309e71c1421, 0x6b4c131dfaca608d}},
      {ACL_UINT32, 4, 0, kNumbers, {0x8c02836d854f7566, 0x2a983e4ac00fe88f, 0xa28489a749fb3ae2, 0x0a10dfde368c0a55}},
  };
  return kFormats;
}

// Of any engine, wherever the operands begin.
TEST_F(ReduceAsync, EveryTypeAndKindHasTheSameBitsEverywhere) {
  constexpr size_t kRoom = 64;
  for (const Format& format : Formats()) {
    std::vector<uint8_t> a, b;
    MakeOperands(format, &a, &b);
    DeviceBuffer dst(a.size() + kRoom), src(a.size() + kRoom);
    for (int kind = kSum; kind <= kEqual; ++kind) {
      for (const auto& [to, from] : {std::pair<size_t, size_t>{0, 0}, {1, 1}, {3, 5}}) {
        const size_t dst_offset = to * format.size, src_offset = from * format.size;
        ASSERT_EQ(aclrtMemset(dst.get(), dst.size(), 0x5c, dst.size()), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemcpy(dst.at(dst_offset), a.size(), a.data(), a.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemcpy(src.at(src_offset), b.size(), b.data(), b.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
        ASSERT_EQ(aclrtReduceAsync(dst.at(dst_offset), src.at(src_offset), a.size(), static_cast<aclrtReduceKind>(kind), format.type,
                                   stream_, nullptr),
                  ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        std::vector<uint8_t> all = dst.Read(dst.size());
        const std::vector<uint8_t> result(all.begin() + static_cast<long>(dst_offset),
                                          all.begin() + static_cast<long>(dst_offset + a.size()));
        EXPECT_EQ(HashOf(result), format.expected[kind - kSum])
            << "type " << format.type << " kind " << kind << " offsets " << dst_offset << ", " << src_offset;
        all.erase(all.begin() + static_cast<long>(dst_offset), all.begin() + static_cast<long>(dst_offset + a.size()));
        EXPECT_EQ(all, std::vector<uint8_t>(kRoom, 0x5c)) << "what lies around it";
      }
    }
  }
}

// What a processor makes of infinity minus infinity is a NaN, and which one is its own choice: the host's here.
TEST_F(ReduceAsync, InfinityMinusInfinityIsTheHostsNan) {
  volatile float infinity = std::numeric_limits<float>::infinity();
  const float made_up = infinity - infinity;
  uint32_t bits = 0;
  std::memcpy(&bits, &made_up, sizeof(bits));
  const auto result =
      Reduced<uint32_t>(std::vector<uint32_t>(99, 0x7f800000), std::vector<uint32_t>(99, 0xff800000), kSum, ACL_FLOAT, stream_);
  EXPECT_EQ(result, std::vector<uint32_t>(99, bits));
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
