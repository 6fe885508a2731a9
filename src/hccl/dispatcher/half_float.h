// The two 16-bit floating point formats, as far as a reduction needs them: to float and back, rounded to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ropeway::comm {

struct BFloat16 {
  uint16_t bits;

  float Widen() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static BFloat16 Narrow(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    if (std::isnan(value)) return {static_cast<uint16_t>((wide >> 16) | 0x40)};
    return {static_cast<uint16_t>((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16)};
  }
};

struct Float16 {
  uint16_t bits;

  float Widen() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1F;
    const uint32_t fraction = bits & 0x3FF;
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | (fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);  // subnormal, or zero
    return sign != 0 ? -magnitude : magnitude;
  }

  static Float16 Narrow(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((wide >> 16) & 0x8000);
    const uint32_t magnitude = wide & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) return {static_cast<uint16_t>(sign | 0x7E00)};
    if (magnitude >= 0x477FF000) return {static_cast<uint16_t>(sign | 0x7C00)};  // 65520 and more round to infinity
    if (magnitude < 0x38800000) {
      // Below 2^-14: steps of 2^-24. nearbyint rounds to nearest even, and 1024 steps are the smallest normal number.
      const float steps = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
      return {static_cast<uint16_t>(sign | static_cast<uint16_t>(steps))};
    }
    const uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
    return {static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13))};
  }
};

}  // namespace ropeway::comm
