// Reductions and 16-bit float conversions, against slow and exact arithmetic of the test's own.
#include "engine/cpu/kernels/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"

namespace ropeway::cpu {
namespace reduce_test {

// A 16-bit format, described by the width of its fraction, with slow and exact conversions.
struct Format16 {
  int fraction_bits;
  uint16_t infinity;
  int bias;

  bool IsNan(uint16_t bits) const { return (bits & 0x7fff) > infinity; }

  // The value of a magnitude. For `infinity` it is the number that would follow the largest: what rounding needs.
  double Magnitude(uint16_t bits) const {
    const int exponent = bits >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - fraction_bits);
    return std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  }
  double Decode(uint16_t bits) const {
    const uint16_t magnitude = bits & 0x7fff;
    double value = magnitude == infinity ? std::numeric_limits<double>::infinity() : Magnitude(magnitude);
    if (IsNan(bits)) value = std::numeric_limits<double>::quiet_NaN();
    return (bits & 0x8000) != 0 ? -value : value;
  }
  // The nearest; of two that are equally near, the even one. Not for NaN.
  uint16_t Encode(double value) const {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude >= Magnitude(infinity)) return sign | infinity;
    uint16_t low = 0, high = infinity;  // Magnitude(low) <= magnitude < Magnitude(high)
    while (high - low > 1) {
      const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
      (Magnitude(middle) <= magnitude ? low : high) = middle;
    }
    const double below = magnitude - Magnitude(low), above = Magnitude(high) - magnitude;
    const bool up = above < below || (above == below && low % 2 == 1);
    return sign | (up ? high : low);
  }
};

constexpr Format16 kHalfFormat{10, 0x7c00, 15};
constexpr Format16 kBFloat16Format{7, 0x7f80, 127};

TEST(HalfTest, EveryHalfIsConvertedExactly) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    if (kHalfFormat.IsNan(half)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(FloatToHalf(value), half | 0x0200) << bits;  // the same payload, quiet
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), kHalfFormat.Decode(half)) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(FloatToHalf(value), half) << bits;
  }
}

TEST(HalfTest, EveryBFloat16IsConvertedExactly) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto bfloat = static_cast<uint16_t>(bits);
    const float value = BFloat16ToFloat(bfloat);
    if (kBFloat16Format.IsNan(bfloat)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(FloatToBFloat16(value), bfloat | 0x0040) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), kBFloat16Format.Decode(bfloat)) << bits;
    ASSERT_EQ(FloatToBFloat16(value), bfloat) << bits;
  }
}

// Rounds `value` both ways and complains with its bits.
template <class Convert>
void ExpectRounding(const Format16& format, Convert convert, float value) {
  const uint16_t result = convert(value);
  if (std::isnan(value)) {
    ASSERT_TRUE(format.IsNan(result)) << std::hex << std::bit_cast<uint32_t>(value);
    ASSERT_EQ((result & 0x8000) != 0, std::signbit(value)) << std::hex << std::bit_cast<uint32_t>(value);
  } else {
    ASSERT_EQ(result, format.Encode(value)) << std::hex << std::bit_cast<uint32_t>(value);
  }
}

template <class Convert>
void ExpectRoundingOfManyFloats(const Format16& format, Convert convert) {
  // All half-way cases between neighbours, and the floats just beside them.
  for (uint16_t low = 0; low < format.infinity && !::testing::Test::HasFatalFailure(); ++low) {
    const double middle = (format.Magnitude(low) + format.Magnitude(static_cast<uint16_t>(low + 1))) / 2;
    const float exact = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(exact), middle);
    ExpectRounding(format, convert, exact);
    ExpectRounding(format, convert, -exact);
    ExpectRounding(format, convert, std::nextafter(exact, 0.0f));
    ExpectRounding(format, convert, std::nextafter(exact, std::numeric_limits<float>::infinity()));
  }
  std::mt19937 random(8);
  for (int i = 0; i < 300'000 && !::testing::Test::HasFatalFailure(); ++i) {
    ExpectRounding(format, convert, std::bit_cast<float>(static_cast<uint32_t>(random())));
    ExpectRounding(format, convert, std::ldexp(static_cast<float>(random()), -static_cast<int>(random() % 64)));
  }
  using Limits = std::numeric_limits<float>;
  const float signalling = std::bit_cast<float>(0x7f800001u), negative_nan = std::bit_cast<float>(0xffffffffu);
  for (float value : {0.0f, -0.0f, Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), Limits::infinity(),
                      -Limits::infinity(), Limits::quiet_NaN(), signalling, negative_nan}) {
    ExpectRounding(format, convert, value);
  }
}

TEST(HalfTest, FloatsAreRoundedToTheNearestHalf) { ExpectRoundingOfManyFloats(kHalfFormat, FloatToHalf); }

TEST(HalfTest, FloatsAreRoundedToTheNearestBFloat16) { ExpectRoundingOfManyFloats(kBFloat16Format, FloatToBFloat16); }

constexpr ReduceOp kAllOps[] = {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kEqual};

// How the test computes one element of each type: Bits, Specials(), Same(result, expected), Reference(op, a, b).
template <class T>
struct IntegerCase {
  using Bits = T;
  static std::vector<Bits> Specials() {
    return {0, 1, 2, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  }
  static bool Same(Bits a, Bits b) { return a == b; }
  static Bits Reference(ReduceOp op, Bits a, Bits b) {
    const auto wide_a = static_cast<int64_t>(a), wide_b = static_cast<int64_t>(b);
    switch (op) {
      case ReduceOp::kSum: return static_cast<Bits>(wide_a + wide_b);
      case ReduceOp::kMax: return static_cast<Bits>(std::max(wide_a, wide_b));
      case ReduceOp::kMin: return static_cast<Bits>(std::min(wide_a, wide_b));
      case ReduceOp::kEqual: return wide_a == wide_b;
    }
    return 0;
  }
};

// The same for floating point: a Coder turns the bits into a double and back.
template <class Coder>
struct FloatCase {
  using Bits = typename Coder::Bits;
  static std::vector<Bits> Specials() {
    std::vector<Bits> bits;
    for (double value : {0.0, 1.0, 1.5, 65504.0, 1e-7, 3e38, static_cast<double>(INFINITY)}) {
      bits.push_back(Coder::Encode(value));
      bits.push_back(Coder::Encode(-value));
    }
    bits.insert(bits.end(), {1, 2, static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1) | 1)});  // subnormal
    const Bits infinity = Coder::Encode(INFINITY);
    bits.insert(bits.end(), {static_cast<Bits>(infinity + 1), static_cast<Bits>(~Bits{0})});  // NaNs
    return bits;
  }
  // To the last bit, but for the NaN that processors make of numbers.
  static bool Same(Bits a, Bits b) { return a == b || (b == kMadeUp && std::isnan(Coder::Decode(a))); }
  static constexpr Bits kMadeUp = static_cast<Bits>(~Bits{0} - 1);
  static Bits Quiet(Bits nan) { return static_cast<Bits>(nan | ((Coder::Encode(INFINITY) >> 1) & ~Coder::Encode(INFINITY))); }
  static Bits Reference(ReduceOp op, Bits bits_a, Bits bits_b) {
    const double a = Coder::Decode(bits_a), b = Coder::Decode(bits_b);
    if (op == ReduceOp::kEqual) return a == b ? Coder::Encode(1) : 0;
    if (std::isnan(a)) return Quiet(bits_a);
    if (std::isnan(b)) return Quiet(bits_b);
    if (op == ReduceOp::kSum) return std::isnan(a + b) ? kMadeUp : Coder::Encode(a + b);
    const bool a_less = a < b || (a == b && std::signbit(a));
    return a_less == (op == ReduceOp::kMin) ? bits_a : bits_b;
  }
};

struct Float32Coder {
  using Bits = uint32_t;
  static double Decode(Bits bits) { return std::bit_cast<float>(bits); }
  static Bits Encode(double value) { return std::bit_cast<Bits>(static_cast<float>(value)); }
};
struct HalfCoder {
  using Bits = uint16_t;
  static double Decode(Bits bits) { return kHalfFormat.Decode(bits); }
  static Bits Encode(double value) { return kHalfFormat.Encode(value); }
};
struct BFloat16Coder {
  using Bits = uint16_t;
  static double Decode(Bits bits) { return kBFloat16Format.Decode(bits); }
  static Bits Encode(double value) { return kBFloat16Format.Encode(static_cast<float>(value)); }  // by way of float
};

template <ReduceType kValue, class CaseType>
struct TypedCase : CaseType {
  static constexpr ReduceType kType = kValue;
};

template <class Case>
class ReduceTest : public ::testing::Test {
 protected:
  using Bits = typename Case::Bits;

  // Half of them special, so that most pairs of specials meet; the rest any bits at all.
  static std::vector<Bits> Values(size_t count, std::mt19937& random) {
    const std::vector<Bits> specials = Case::Specials();
    std::vector<Bits> values(count);
    for (Bits& value : values) {
      value = random() % 2 == 0 ? specials[random() % specials.size()] : static_cast<Bits>(random());
    }
    return values;
  }

  // Reduces at odd addresses, and compares element by element; bytes around the destination must survive.
  static void Check(ReduceOp op, const std::vector<Bits>& a, const std::vector<Bits>& b, size_t dst_offset, size_t src_offset) {
    const size_t bytes = a.size() * sizeof(Bits);
    std::vector<uint8_t> dst(bytes + 64, 0x5c), src(bytes + 64, 0x5c);
    if (bytes > 0) std::memcpy(dst.data() + dst_offset, a.data(), bytes);
    if (bytes > 0) std::memcpy(src.data() + src_offset, b.data(), bytes);
    Reduce(dst.data() + dst_offset, src.data() + src_offset, bytes, op, Case::kType);
    for (size_t i = 0; i < a.size(); ++i) {
      Bits result;
      std::memcpy(&result, dst.data() + dst_offset + i * sizeof(Bits), sizeof result);
      const Bits expected = Case::Reference(op, a[i], b[i]);
      ASSERT_TRUE(Case::Same(result, expected))
          << std::hex << "op " << static_cast<int>(op) << " of " << +a[i] << " and " << +b[i] << ": " << +result << ", not " << +expected;
    }
    for (size_t i = 0; i < dst_offset; ++i) ASSERT_EQ(dst[i], 0x5c);
    for (size_t i = dst_offset + bytes; i < dst.size(); ++i) ASSERT_EQ(dst[i], 0x5c);
  }
};

using ReduceCases =
    ::testing::Types<TypedCase<ReduceType::kFloat32, FloatCase<Float32Coder>>, TypedCase<ReduceType::kFloat16, FloatCase<HalfCoder>>,
                     TypedCase<ReduceType::kBFloat16, FloatCase<BFloat16Coder>>, TypedCase<ReduceType::kInt8, IntegerCase<int8_t>>,
                     TypedCase<ReduceType::kInt16, IntegerCase<int16_t>>, TypedCase<ReduceType::kInt32, IntegerCase<int32_t>>,
                     TypedCase<ReduceType::kUInt8, IntegerCase<uint8_t>>, TypedCase<ReduceType::kUInt16, IntegerCase<uint16_t>>,
                     TypedCase<ReduceType::kUInt32, IntegerCase<uint32_t>>>;
TYPED_TEST_SUITE(ReduceTest, ReduceCases);

TYPED_TEST(ReduceTest, MatchesTheReferenceAtAllLengths) {
  std::mt19937 random(9);
  for (ReduceOp op : kAllOps) {
    ASSERT_TRUE(CanReduce(op, TypeParam::kType));
    for (size_t count = 0; count < 200; ++count) {
      const auto a = this->Values(count, random), b = this->Values(count, random);
      ASSERT_NO_FATAL_FAILURE(this->Check(op, a, b, random() % 33, random() % 33));
    }
  }
}

TYPED_TEST(ReduceTest, AllPairsOfSpecialValues) {
  const auto specials = TypeParam::Specials();
  std::vector<typename TypeParam::Bits> a, b;
  for (auto left : specials) {
    for (auto right : specials) {
      a.push_back(left);
      b.push_back(right);
    }
  }
  for (ReduceOp op : kAllOps) ASSERT_NO_FATAL_FAILURE(this->Check(op, a, b, 0, 0));
}

TYPED_TEST(ReduceTest, AnArrayCanBeReducedIntoItself) {
  std::mt19937 random(10);
  for (ReduceOp op : kAllOps) {
    const auto before = this->Values(150, random);
    auto values = before;
    Reduce(values.data(), values.data(), values.size() * sizeof values[0], op, TypeParam::kType);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(TypeParam::Same(values[i], TypeParam::Reference(op, before[i], before[i]))) << +before[i];
    }
  }
}

TYPED_TEST(ReduceTest, AnIncompleteElementAtTheEndIsLeftAlone) {
  constexpr size_t kElement = sizeof(typename TypeParam::Bits);
  std::vector<uint8_t> dst(4 * kElement, 0x11), src(4 * kElement, 0x11);
  const size_t whole = 3 * kElement;
  Reduce(dst.data(), src.data(), whole + kElement - 1, ReduceOp::kEqual, TypeParam::kType);
  EXPECT_NE(dst[whole - kElement], 0x11);
  for (size_t i = whole; i < dst.size(); ++i) EXPECT_EQ(dst[i], 0x11);
}

TEST(ReducePairsTest, FourBitIntegersAndUnknownPairsAreRefused) {
  uint32_t dst = 0x01020304;
  const uint32_t src = 0x01010101;
  for (ReduceOp op : kAllOps) {
    EXPECT_FALSE(CanReduce(op, ReduceType::kInt4));
    Reduce(&dst, &src, sizeof dst, op, ReduceType::kInt4);
  }
  EXPECT_FALSE(CanReduce(static_cast<ReduceOp>(4), ReduceType::kInt32));
  EXPECT_FALSE(CanReduce(ReduceOp::kSum, static_cast<ReduceType>(10)));
  EXPECT_EQ(dst, 0x01020304u);
}

}  // namespace reduce_test
}  // namespace ropeway::cpu
