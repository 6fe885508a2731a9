// Numbers and sizes as people write them. Nothing may stand in front or behind.
#pragma once

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace ropeway {

struct ByteUnit {
  const char* name;
  double bytes;
};
inline constexpr ByteUnit kByteUnits[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"T", 0x1p40},
                                          {"G", 0x1p30},   {"M", 0x1p20},   {"K", 0x1p10},   {"B", 1},        {"", 1}};

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// 64GiB, 512M or 1073741824.
inline std::optional<double> ParseBytes(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<uint64_t> value = ParseNumber<uint64_t>(text.substr(0, digits));
  const auto* unit =
      std::find_if(std::begin(kByteUnits), std::end(kByteUnits),
                   [name = std::string(text.substr(digits))](const ByteUnit& one) { return strcasecmp(one.name, name.c_str()) == 0; });
  return value && unit != std::end(kByteUnits) ? std::optional(static_cast<double>(*value) * unit->bytes) : std::nullopt;
}

}  // namespace ropeway
