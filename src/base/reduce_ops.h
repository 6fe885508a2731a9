// How two elements become one, for every type that is reduced: what the copy engine and the collectives share. Floating point maxima,
// minima and comparisons work on the bits, which is the same code for all formats, and exact. All is constexpr, which is what GPU code may
// call (engine/cuda/reduce.cu).
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
  static constexpr Bits Sum(Bits a, Bits b) { return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b)); }
  static constexpr Bits Product(Bits a, Bits b) { return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b)); }
  static constexpr Bits Max(Bits a, Bits b) { return a > b ? a : b; }
  static constexpr Bits Min(Bits a, Bits b) { return a < b ? a : b; }
  static constexpr Bits Equal(Bits a, Bits b) { return a == b ? 1 : 0; }
};

// Format gives Bits (unsigned), Widen and Narrow to what is computed with, and the bit patterns kInfinity, kQuiet and kOne. Where an
// operand is a NaN, so is the result: the first operand when it is one, else the second, made quiet. Max and min hold +0 for greater than
// -0.
template <class Format>
struct FloatingOps {
  using Bits = typename Format::Bits;
  using Signed = std::make_signed_t<Bits>;
  static constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;

  static constexpr bool IsNan(Bits a) { return (a & kMagnitude) > Format::kInfinity; }
  // A number that grows with the value, -0 just below +0.
  static constexpr Signed Rank(Bits a) {
    const Signed negative = static_cast<Signed>(a) >> (sizeof(Bits) * 8 - 1);
    return static_cast<Signed>(static_cast<Signed>(a) ^ (negative & static_cast<Signed>(kMagnitude)));
  }
  // Processors choose between two NaNs by the order of operands, and compilers swap those as they like, so that is decided here; the rest
  // they do alike.
  static constexpr Bits OrFirstNan(Bits a, Bits otherwise) {
    // Masked in as in half.h. Signed, which is what SSE2 can compare.
    const bool is_nan = static_cast<Signed>(a & kMagnitude) > static_cast<Signed>(Format::kInfinity);
    const auto mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(is_nan));
    return static_cast<Bits>(((a | Format::kQuiet) & mask) | (otherwise & static_cast<Bits>(~mask)));
  }
  static constexpr Bits OrNan(Bits a, Bits b, Bits otherwise) { return OrFirstNan(a, OrFirstNan(b, otherwise)); }
  static constexpr Bits Sum(Bits a, Bits b) { return OrFirstNan(a, Format::Narrow(Format::Widen(a) + Format::Widen(b))); }
  static constexpr Bits Product(Bits a, Bits b) { return OrFirstNan(a, Format::Narrow(Format::Widen(a) * Format::Widen(b))); }
  static constexpr Bits Max(Bits a, Bits b) { return OrNan(a, b, Rank(a) > Rank(b) ? a : b); }
  static constexpr Bits Min(Bits a, Bits b) { return OrNan(a, b, Rank(a) < Rank(b) ? a : b); }
  static constexpr Bits Equal(Bits a, Bits b) {
    const bool both_zero = static_cast<Bits>((a | b) & kMagnitude) == 0;
    return (both_zero | ((a == b) & !IsNan(a))) ? Format::kOne : Bits{0};
  }
};

struct Float64Format {
  using Bits = uint64_t;
  static constexpr Bits kInfinity = 0x7ff0'0000'0000'0000, kQuiet = 0x0008'0000'0000'0000, kOne = std::bit_cast<Bits>(1.0);
  static constexpr double Widen(Bits a) { return std::bit_cast<double>(a); }
  static constexpr Bits Narrow(double value) { return std::bit_cast<Bits>(value); }
};

struct Float32Format {
  using Bits = uint32_t;
  static constexpr Bits kInfinity = kFloatInfinity, kQuiet = kFloatQuiet, kOne = std::bit_cast<Bits>(1.0f);
  static constexpr float Widen(Bits a) { return std::bit_cast<float>(a); }
  static constexpr Bits Narrow(float value) { return std::bit_cast<Bits>(value); }
};

struct Float16Format {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = kHalfInfinity, kQuiet = kHalfQuiet, kOne = kHalfOne;
  static constexpr float Widen(Bits a) { return HalfToFloat(a); }
  static constexpr Bits Narrow(float value) { return FloatToHalf(value); }
};

struct BFloat16Format {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = kBFloat16Infinity, kQuiet = kBFloat16Quiet, kOne = kBFloat16One;
  static constexpr float Widen(Bits a) { return BFloat16ToFloat(a); }
  static constexpr Bits Narrow(float value) { return FloatToBFloat16(value); }
};

}  // namespace ropeway
