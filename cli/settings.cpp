// The table of settings and what counts as a sensible value; see settings.h.
#include "cli/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>

namespace ropeway::cli {
namespace {

std::optional<uint64_t> WholeNumber(const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::string InRange(const std::string& text, uint64_t low, uint64_t high) {
  const std::optional<uint64_t> number = WholeNumber(text);
  if (number && *number >= low && *number <= high) return "";
  return "a number from " + std::to_string(low) + " to " + std::to_string(high) + " is wanted";
}

std::string CheckEngine(const std::string& text) {
  return text == "auto" || text == "cpu" || text == "cuda" ? "" : "the engines are auto, cpu and cuda";
}

std::string CheckCtas(const std::string& text) { return InRange(text, 1, 1024); }

std::string CheckCount(const std::string& text) { return InRange(text, 1, 64); }

std::string CheckLogLevel(const std::string& text) { return InRange(text, 0, 4); }

std::string CheckMemory(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit = text.substr(digits);
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  static constexpr const char* kUnits[] = {"", "B", "K", "KIB", "M", "MIB", "G", "GIB", "T", "TIB"};
  const bool known = std::any_of(std::begin(kUnits), std::end(kUnits), [&](const char* name) { return unit == name; });
  return known && WholeNumber(text.substr(0, digits)) ? "" : "a size is wanted, such as 64GiB or 512MiB";
}

std::string CheckSwitch(const std::string& text) {
  static constexpr const char* kWords[] = {"1", "on", "true", "yes", "0", "off", "false", "no", ""};
  const bool known = std::any_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return text == word; });
  return known ? "" : "0 or 1 is wanted";
}

std::string CheckSchedule(const std::string& text) {
  const std::string random = "random:";
  if (text == "fast" || text == "earliest" || text == "latest") return "";
  if (text.compare(0, random.size(), random) == 0 && WholeNumber(text.substr(random.size()))) return "";
  return "fast, earliest, latest or random:SEED is wanted";
}

std::string CheckText(const std::string& text) { return text.empty() ? "a text is wanted" : ""; }

constexpr Setting kSettings[] = {
    {"--engine", "ROPEWAY_ENGINE", "NAME", "auto", "what moves the bytes: auto, cpu, cuda", CheckEngine},
    {"--devices", "ROPEWAY_DEVICES", "N", "8, or the GPUs", "how many devices the program sees", CheckCount},
    {"--device-memory", "ROPEWAY_DEVICE_MEMORY", "SIZE", "64GiB, or the GPU's", "memory of each device, committed on touch",
     CheckMemory},
    {"--soc", "ROPEWAY_SOC", "NAME", "Ascend910B1", "the chip name that the program reads", CheckText},
    {"--lanes", "ROPEWAY_LANES", "N", "one per core, 8 at most", "worker threads of the CPU engine", CheckCount},
    {"--cuda-ctas", "ROPEWAY_CUDA_CTAS", "N", "16", "blocks of threads that a batch takes from a GPU", CheckCtas},
    {"--host-access", "ROPEWAY_HOST_ACCESS", nullptr, "off", "let host code read and write device addresses",
     CheckSwitch},
    {"--strict-alignment", "ROPEWAY_STRICT_ALIGNMENT", nullptr, "off", "refuse copies that are not 64-byte aligned",
     CheckSwitch},
    {"--schedule", "ROPEWAY_SCHEDULE", "S", "fast", "when tasks run: fast, earliest, latest, random:SEED",
     CheckSchedule},
    {"--trace", "ROPEWAY_TRACE", "FILE", "none", "write a trace of every task to this file", CheckText},
    {"--log-level", "ROPEWAY_LOG_LEVEL", "L", "3", "0 debug, 1 info, 2 warning, 3 error, 4 nothing", CheckLogLevel},
};

}  // namespace

std::span<const Setting> Settings() { return kSettings; }

const Setting* FindSetting(const std::string& variable) {
  const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                   [&](const Setting& setting) { return variable == setting.variable; });
  return found == std::end(kSettings) ? nullptr : found;
}

}  // namespace ropeway::cli
