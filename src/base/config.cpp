#include "base/config.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/fork.h"

namespace ropeway {
namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "64GiB", "512M", "1073741824".
std::optional<uint64_t> ParseBytes(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::optional<uint64_t> value = ParseNumber(text.substr(0, digits));
  std::string unit(text.substr(digits));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
  static constexpr std::pair<const char*, int> kUnits[] = {{"", 0},   {"B", 0},  {"K", 10}, {"KIB", 10}, {"M", 20},
                                                           {"MIB", 20}, {"G", 30}, {"GIB", 30}, {"T", 40},  {"TIB", 40}};
  for (auto [name, shift] : kUnits) {
    if (value && unit == name && *value <= (UINT64_MAX >> shift)) return *value << shift;
  }
  return std::nullopt;
}

std::optional<bool> ParseSwitch(std::string_view text) {
  if (text == "1" || text == "on" || text == "true" || text == "yes") return true;
  if (text == "0" || text == "off" || text == "false" || text == "no" || text.empty()) return false;
  return std::nullopt;
}

class Reader {
 public:
  Reader(const char* (*lookup)(const char*), Config& config) : lookup_(lookup), config_(config) {}

  template <typename Parse, typename Use>
  void Read(const char* name, const char* wanted, Parse parse, Use use) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    if (auto value = parse(std::string_view(text)); value && use(*value)) return;
    config_.complaints.push_back(std::string(name) + "=" + text + " is ignored: " + wanted);
  }

 private:
  const char* (*lookup_)(const char*);
  Config& config_;
};

bool ReadSchedule(std::string_view text, Config& config) {
  constexpr std::string_view kRandom = "random:";
  if (text == "fast") config.schedule = ScheduleKind::kFast;
  else if (text == "earliest") config.schedule = ScheduleKind::kEarliest;
  else if (text == "latest") config.schedule = ScheduleKind::kLatest;
  else if (text.substr(0, kRandom.size()) == kRandom) {
    std::optional<uint64_t> seed = ParseNumber(text.substr(kRandom.size()));
    if (!seed) return false;
    config.schedule = ScheduleKind::kRandom;
    config.schedule_seed = *seed;
  } else return false;
  return true;
}

// runtime.md 2.9: digits between commas; reading stops at the first token that is not a known id; an order that does not
// rise makes nothing visible.
void ReadVisibleDevices(std::string_view text, Config& config) {
  config.visible_set = true;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    std::optional<uint64_t> id = ParseNumber(text.substr(0, comma));
    if (!id || *id >= static_cast<uint64_t>(config.devices)) break;
    config.visible.push_back(static_cast<int>(*id));
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  const bool rising = std::adjacent_find(config.visible.begin(), config.visible.end(), std::greater_equal<>()) ==
                      config.visible.end();
  if (!rising) config.visible.clear();
}

}  // namespace

constinit CompleteConfig g_complete_config = nullptr;

Config ReadConfig(const char* (*lookup)(const char* name), CompleteConfig complete) {
  Config config;
  Reader reader(lookup, config);
  auto as_text = [](std::string_view text) { return std::optional<std::string>(text); };
  auto level = [&](uint64_t value) { return value <= 4 && (config.log_level = static_cast<int>(value), true); };
  auto soc = [&](const std::string& value) { return !value.empty() && (config.soc_name = value, true); };

  reader.Read("ROPEWAY_ENGINE", "the engines are auto, cpu and cuda", as_text, [&](const std::string& value) {
    return (value == "auto" || value == "cpu" || value == "cuda") && (config.engine = value, true);
  });
  reader.Read("ROPEWAY_DEVICES", "a number from 1 to 64 is wanted", ParseNumber, [&](uint64_t value) {
    return value >= 1 && value <= Config::kMaxDevices && (config.devices = static_cast<int>(value), config.devices_set = true);
  });
  reader.Read("ROPEWAY_DEVICE_MEMORY", "a size from 2MiB to 1TiB is wanted, such as 64GiB", ParseBytes, [&](uint64_t value) {
    return value >= (2u << 20) && value <= (uint64_t{1} << 40) && (config.device_memory = value, config.device_memory_set = true);
  });
  reader.Read("SOC_VERSION", "a chip name is wanted", as_text, soc);
  reader.Read("ROPEWAY_SOC", "a chip name is wanted", as_text, soc);
  reader.Read("ROPEWAY_LANES", "a number from 1 to 64 is wanted", ParseNumber, [&](uint64_t value) {
    return value >= 1 && value <= 64 && (config.lanes = static_cast<int>(value), true);
  });
  reader.Read("ROPEWAY_CUDA_CTAS", "a number from 1 to 1024 is wanted", ParseNumber, [&](uint64_t value) {
    return value >= 1 && value <= 1024 && (config.cuda_ctas = static_cast<int>(value), true);
  });
  reader.Read("ROPEWAY_HOST_ACCESS", "0 or 1 is wanted", ParseSwitch, [&](bool on) { return config.host_access = on, true; });
  reader.Read("ROPEWAY_STRICT_ALIGNMENT", "0 or 1 is wanted", ParseSwitch,
              [&](bool on) { return config.strict_alignment = on, true; });
  reader.Read("ROPEWAY_SCHEDULE", "fast, earliest, latest or random:SEED is wanted", as_text,
              [&](const std::string& value) { return ReadSchedule(value, config); });
  reader.Read("ROPEWAY_TRACE", "", as_text, [&](const std::string& value) { return config.trace_file = value, true; });
  reader.Read("ASCEND_GLOBAL_LOG_LEVEL", "0 to 4 is wanted", ParseNumber, level);
  reader.Read("ROPEWAY_LOG_LEVEL", "0 to 4 is wanted", ParseNumber, level);
  reader.Read("ASCEND_SLOG_PRINT_TO_STDOUT", "0 or 1 is wanted", ParseSwitch,
              [&](bool on) { return config.log_to_stdout = on, true; });
  if (complete != nullptr) complete(config);
  if (const char* list = lookup("ASCEND_RT_VISIBLE_DEVICES")) ReadVisibleDevices(list, config);
  return config;
}

const Config& GetConfig() {
  static std::atomic<const Config*> settings{nullptr};
  if (const Config* known = settings.load(std::memory_order_acquire)) return *known;
  const HeldAcrossFork lock(ForkLock::kStart);
  if (settings.load(std::memory_order_relaxed) == nullptr)
    settings.store(
        new Config(ReadConfig([](const char* name) -> const char* { return std::getenv(name); }, g_complete_config)),
        std::memory_order_release);
  return *settings.load(std::memory_order_relaxed);
}

}  // namespace ropeway
