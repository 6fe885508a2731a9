#include "hixl/engine/options.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {
namespace {

using Json = nlohmann::json;

Status WrongValue(const std::string& key, const std::string& value, const char* wanted) {
  return Fail(kParamInvalid, "option %s is '%s': %s is wanted", key.c_str(), value.substr(0, 200).c_str(), wanted);
}

bool InRange(const std::string& text, int low, int high, int step = 1) {
  const std::optional<int> number = ParseNumber<int>(text);
  return number && *number >= low && *number <= high && *number % step == 0;
}

// --- GlobalResourceConfig -----------------------------------------------------------------------------------------------

constexpr unsigned kMost = UINT32_MAX;
// Whole numbers of the configuration. `target`: what follows from it here; null for nothing.
struct ConfigRow {
  const char* key;
  unsigned low;
  unsigned high;
  unsigned Options::*target = nullptr;
};
constexpr ConfigRow kConfig[] = {
    {"connect_pool.thread_num", 1, 64, &Options::connect_threads},
    {"connect_pool.task_queue_capacity", 1, 65535, &Options::connect_queue},
    {"comm_resource_config.listen_port", 1, 65535},
    {"comm_resource_config.qos", 0, 7},
    {"comm_resource_config.max_active_channels", 1, kMost},
    {"fabric_memory.max_capacity", 1, 1024},
    {"fabric_memory.start_address", 0, 1024},
    {"fabric_memory.task_stream_num", 1, 8},
    {"channel_pool.max_channel", 1, 512},
};

std::optional<unsigned> WholeNumber(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() <= kMost) return value.get<unsigned>();
  return value.is_string() ? ParseNumber<unsigned>(value.get<std::string>()) : std::nullopt;
}

// An object inside the object is its keys with the name and a dot in front.
const Json* FindConfig(const Json& config, const std::string& key) {
  if (const auto flat = config.find(key); flat != config.end()) return &*flat;
  const size_t dot = key.find('.');
  const auto outer = config.find(key.substr(0, dot));
  if (outer == config.end() || !outer->is_object()) return nullptr;
  const auto inner = outer->find(key.substr(dot + 1));
  return inner == outer->end() ? nullptr : &*inner;
}

Status ReadConfig(const std::string& text, Options* options) {
  const Json config = Json::parse(text, nullptr, false);
  if (!config.is_object()) return WrongValue("GlobalResourceConfig", text, "a JSON object");
  for (const ConfigRow& row : kConfig) {
    const Json* const found = FindConfig(config, row.key);
    if (found == nullptr) continue;
    const std::optional<unsigned> number = WholeNumber(*found);
    if (!number || *number < row.low || *number > row.high)
      return Fail(kParamInvalid, "GlobalResourceConfig: %s is %s: a whole number from %u to %u is wanted", row.key, found->dump().c_str(),
                  row.low, row.high);
    if (row.target != nullptr) options->*row.target = *number;
  }
  return Ok();
}

// --- Options ------------------------------------------------------------------------------------------------------------

bool IsPool(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  const auto count = ParseNumber<unsigned>(text.substr(0, colon)), size = ParseNumber<unsigned>(text.substr(colon + 1));
  return count && size && (*count == 0) == (*size == 0);
}

struct OptionRow {
  const char* key;
  bool prefixed;  // "adxl." may stand in front
  const char* wanted;
  bool (*good)(const std::string& value);
};
constexpr OptionRow kOptions[] = {
    {"AutoConnect", false, "0 or 1", [](const std::string& value) { return value == "0" || value == "1"; }},
    {"BufferPool", true, "'number:MiB', both above 0, or 0:0", &IsPool},
    {"RdmaTrafficClass", true, "a multiple of 4 from 0 to 252",
     [](const std::string& value) { return value.empty() || InRange(value, 0, 255, 4); }},
    {"RdmaServiceLevel", true, "0 to 7", [](const std::string& value) { return value.empty() || InRange(value, 0, 7); }},
    {"EnableUseFabricMem", false, "0 or 1", [](const std::string& value) { return value.empty() || value == "0" || value == "1"; }},
    {"LocalCommRes", true, "JSON", [](const std::string& value) { return value.empty() || Json::accept(value); }},
    {"GlobalResourceConfig", false, "a JSON object", [](const std::string&) { return true; }},
};

const OptionRow* RowOf(const std::string& key) {
  for (const OptionRow& row : kOptions)
    if (key == row.key || (row.prefixed && key == std::string("adxl.") + row.key)) return &row;
  return nullptr;
}

}  // namespace

Result<Options> ReadOptions(const Texts& given) {
  Options options;
  for (const auto& [key, value] : given) {
    const OptionRow* const row = RowOf(key);
    if (row == nullptr) return Fail(kParamInvalid, "there is no option '%s'", key.c_str());
    if (!row->good(value)) return WrongValue(key, value, row->wanted);
    if (key == "AutoConnect") options.auto_connect = value == "1";
    if (key == "GlobalResourceConfig" && !value.empty()) RW_TRY(ReadConfig(value, &options));
  }
  return options;
}

}  // namespace ropeway::transfer
