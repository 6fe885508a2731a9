// Conversions between float and the two 16-bit floating point formats: half (IEEE binary16) and bfloat16. They round to
// nearest, ties to even. A NaN stays a NaN; the conversions that are more than a shift make it quiet. All cases are
// computed and the right one is masked in, so that a loop over them becomes vector code (branches keep GCC from it).
// All is constexpr, which is what GPU code may call.
#pragma once

#include <bit>
#include <cstdint>

namespace ropeway {

inline constexpr uint16_t kHalfOne = 0x3c00;
inline constexpr uint16_t kHalfInfinity = 0x7c00;
inline constexpr uint16_t kHalfQuiet = 0x0200;
inline constexpr uint16_t kBFloat16One = 0x3f80;
inline constexpr uint16_t kBFloat16Infinity = 0x7f80;
inline constexpr uint16_t kBFloat16Quiet = 0x0040;
inline constexpr uint32_t kFloatInfinity = 0x7f800000;
inline constexpr uint32_t kFloatQuiet = 0x00400000;

// All ones when a < b, else 0. Signed, because that is what SSE2 can compare; every magnitude fits.
constexpr uint32_t MaskLess(uint32_t a, uint32_t b) {
  return 0u - static_cast<uint32_t>(static_cast<int32_t>(a) < static_cast<int32_t>(b));
}

constexpr uint32_t Pick(uint32_t mask, uint32_t when_set, uint32_t otherwise) { return (when_set & mask) | (otherwise & ~mask); }

constexpr float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = half & 0x7fff;
  // The exponent's bias grows from 15 to 127; infinities and NaNs need as much again to reach the top exponent.
  constexpr uint32_t kRebias = (127 - 15) << 23;
  const uint32_t top = MaskLess(kHalfInfinity - 1, magnitude) & kRebias;
  const uint32_t quiet = MaskLess(kHalfInfinity, magnitude) & kFloatQuiet;
  const uint32_t normal = ((magnitude << 13) + kRebias + top) | quiet;
  // A subnormal half is a count of 2^-24. As a float it is normal: this works also where denormals are flushed to zero.
  const uint32_t subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  return std::bit_cast<float>(sign | Pick(MaskLess(magnitude, 0x0400), subnormal, normal));
}

constexpr uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  // Normal results: drop 13 bits of the fraction; a carry out of the fraction moves the exponent up, as it should.
  constexpr uint32_t kRebias = (127 - 15) << 23;
  const uint32_t normal = (magnitude - kRebias + 0x0fff + ((magnitude >> 13) & 1)) >> 13;
  // Subnormal results: in the binade of 0.5 the last bit of a float is worth 2^-24, so the addition does the rounding.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f);
  const uint32_t finite = Pick(MaskLess(magnitude, 0x38800000), subnormal, normal);  // 2^-14
  // From 65536 on it is infinity (from 65520 on the rounding got there by itself). A NaN keeps the top of its payload.
  const uint32_t payload = MaskLess(kFloatInfinity, magnitude) & (kHalfQuiet | ((magnitude >> 13) & 0x03ff));
  return static_cast<uint16_t>(sign | Pick(MaskLess(magnitude, 0x47800000), finite, kHalfInfinity | payload));
}

constexpr float BFloat16ToFloat(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }

constexpr uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;  // reaches infinity by itself
  const uint32_t nan = (bits >> 16) | kBFloat16Quiet;
  return static_cast<uint16_t>(Pick(MaskLess(kFloatInfinity, bits & 0x7fffffff), nan, rounded));
}

}  // namespace ropeway
