// How two elements become one, for every type that is reduced: what the copy engine and the collectives share. Floating point maxima,
// minima and comparisons work on the bits, which is the same code for all formats, and exact.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/half.h"

namespace ropeway {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UnsignedInt128;

// Sums and products wrap: they go through 32 unsigned bits at least, where that is defined and the lower bits are the right ones.
template <class T>
struct IntegerOps {
  using Bits = T;
  using Wide = std::conditional_t<sizeof(T) <= 4, uint32_t, std::conditional_t<sizeof(T) == 8, uint64_t, UnsignedInt128>>;
  static Bits Sum(Bits a, Bits b) { return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b)); }
  static Bits Product(Bits a, Bits b) { return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b)); }
  static Bits Max(Bits a, Bits b) { return a > b ? a : b; }
  static Bits Min(Bits a, Bits b) { return a < b ? a : b; }
  static Bits Equal(Bits a, Bits b) { return a == b ? 1 : 0; }
};

// Format gives Bits (unsigned), Widen and Narrow to what is computed with, and the bit patterns kInfinity, kQuiet and kOne. Max and min
// give a NaN when either operand is one, and hold +0 for greater than -0.
template <class Format>
struct FloatingOps {
  using Bits = typename Format::Bits;
  using Signed = std::make_signed_t<Bits>;
  static constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;

  static bool IsNan(Bits a) { return (a & kMagnitude) > Format::kInfinity; }
  // A number that grows with the value, -0 just below +0.
  static Signed Rank(Bits a) {
    const Signed negative = static_cast<Signed>(a) >> (sizeof(Bits) * 8 - 1);
    return static_cast<Signed>(static_cast<Signed>(a) ^ (negative & static_cast<Signed>(kMagnitude)));
  }
  static Bits OrNan(Bits a, Bits b, Bits otherwise) {
    const Bits with_b = IsNan(b) ? static_cast<Bits>(b | Format::kQuiet) : otherwise;
    return IsNan(a) ? static_cast<Bits>(a | Format::kQuiet) : with_b;
  }
  static Bits Sum(Bits a, Bits b) { return Format::Narrow(Format::Widen(a) + Format::Widen(b)); }
  static Bits Product(Bits a, Bits b) { return Format::Narrow(Format::Widen(a) * Format::Widen(b)); }
  static Bits Max(Bits a, Bits b) { return OrNan(a, b, Rank(a) > Rank(b) ? a : b); }
  static Bits Min(Bits a, Bits b) { return OrNan(a, b, Rank(a) < Rank(b) ? a : b); }
  static Bits Equal(Bits a, Bits b) {
    const bool both_zero = static_cast<Bits>((a | b) & kMagnitude) == 0;
    return (both_zero | ((a == b) & !IsNan(a))) ? Format::kOne : Bits{0};
  }
};

struct Float64Format {
  using Bits = uint64_t;
  static constexpr Bits kInfinity = 0x7ff0'0000'0000'0000, kQuiet = 0x0008'0000'0000'0000, kOne = std::bit_cast<Bits>(1.0);
  static double Widen(Bits a) { return std::bit_cast<double>(a); }
  static Bits Narrow(double value) { return std::bit_cast<Bits>(value); }
};

struct Float32Format {
  using Bits = uint32_t;
  static constexpr Bits kInfinity = kFloatInfinity, kQuiet = kFloatQuiet, kOne = std::bit_cast<Bits>(1.0f);
  static float Widen(Bits a) { return std::bit_cast<float>(a); }
  static Bits Narrow(float value) { return std::bit_cast<Bits>(value); }
};

struct Float16Format {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = kHalfInfinity, kQuiet = kHalfQuiet, kOne = kHalfOne;
  static float Widen(Bits a) { return HalfToFloat(a); }
  static Bits Narrow(float value) { return FloatToHalf(value); }
};

struct BFloat16Format {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = kBFloat16Infinity, kQuiet = kBFloat16Quiet, kOne = kBFloat16One;
  static float Widen(Bits a) { return BFloat16ToFloat(a); }
  static Bits Narrow(float value) { return FloatToBFloat16(value); }
};

}  // namespace ropeway
