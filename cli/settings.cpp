// The table of settings and what counts as a sensible value; see settings.h.
#include "cli/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
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
  const std::optional<uint64_t> number = WholeNumber(text.substr(0, digits));
  std::string unit = text.substr(digits);
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  static constexpr struct {
    const char* name;
    int shift;
  } kUnits[] = {{"", 0},     {"B", 0},  {"K", 10},   {"KIB", 10}, {"M", 20},
                {"MIB", 20}, {"G", 30}, {"GIB", 30}, {"T", 40},   {"TIB", 40}};
  constexpr uint64_t kLeast = uint64_t{2} << 20, kMost = uint64_t{1} << 40;
  const bool good = number && std::any_of(std::begin(kUnits), std::end(kUnits), [&](const auto& known) {
    return unit == known.name && *number <= kMost >> known.shift && *number << known.shift >= kLeast;
  });
  return good ? "" : "a size from 2MiB to 1TiB is wanted, such as 64GiB";
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

std::string CheckName(const std::string& text) { return text.empty() ? "a name is wanted" : ""; }

std::string CheckNothing(const std::string&) { return ""; }

std::string CheckZeroOrOne(const std::string& text) { return text == "0" || text == "1" ? "" : "0 or 1 is wanted"; }

std::string CheckSeconds(const std::string& text, double least) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  const bool good = end != text.c_str() && *end == '\0' && seconds >= least && seconds <= 1e9;
  return good ? "" : "seconds are wanted, such as 30 or 0.5";
}

std::string CheckConnectTimeout(const std::string& text) { return CheckSeconds(text, 0.001); }

std::string CheckExecTimeout(const std::string& text) { return CheckSeconds(text, 0); }

std::string CheckLinkTimeout(const std::string& text) { return InRange(text, 1, 3600); }

std::string CheckRdmaTimeout(const std::string& text) { return InRange(text, 5, 24); }

std::string CheckRdmaRetries(const std::string& text) { return InRange(text, 1, 7); }

constexpr Setting kSettings[] = {
    {"--engine", "ROPEWAY_ENGINE", "NAME", "auto", "what moves the bytes: auto, cpu, cuda", CheckEngine},
    {"--devices", "ROPEWAY_DEVICES", "N", "8, or the GPUs", "how many devices the program sees", CheckCount},
    {"--device-memory", "ROPEWAY_DEVICE_MEMORY", "SIZE", "64GiB, or the GPU's", "memory of each device, committed on touch",
     CheckMemory},
    {"--soc", "ROPEWAY_SOC", "NAME", "Ascend910B1", "the product, and the name that the program reads", CheckName},
    {"--lanes", "ROPEWAY_LANES", "N", "one per core, 8 at most", "worker threads of the CPU engine", CheckCount},
    {"--cuda-ctas", "ROPEWAY_CUDA_CTAS", "N", "16", "blocks of threads that a batch takes from a GPU", CheckCtas},
    {"--host-access", "ROPEWAY_HOST_ACCESS", nullptr, "off", "let host code read and write device addresses",
     CheckSwitch},
    {"--strict-alignment", "ROPEWAY_STRICT_ALIGNMENT", nullptr, "off", "refuse copies that are not 64-byte aligned",
     CheckSwitch},
    {"--schedule", "ROPEWAY_SCHEDULE", "S", "fast", "when tasks run: fast, earliest, latest, random:SEED",
     CheckSchedule},
    {"--trace", "ROPEWAY_TRACE", "FILE", "none", "write a trace of every task to this file", CheckNothing},
    {"--log-level", "ROPEWAY_LOG_LEVEL", "L", "3", "0 debug, 1 info, 2 warning, 3 error, 4 nothing", CheckLogLevel},
    {nullptr, "ROPEWAY_PYTHON_EXTENSIONS", "N", "1", "0: the Python module has the documented functions only", CheckZeroOrOne},
    {nullptr, "SOC_VERSION", "NAME", "none", "as ROPEWAY_SOC, where that is not set", CheckName},
    {nullptr, "ASCEND_RT_VISIBLE_DEVICES", "LIST", "all", "ids of the devices that exist", CheckNothing},  // the devices tell
    {nullptr, "ASCEND_GLOBAL_LOG_LEVEL", "L", "3", "as ROPEWAY_LOG_LEVEL, where that is not set", CheckLogLevel},
    {nullptr, "ASCEND_SLOG_PRINT_TO_STDOUT", "N", "0", "1: the log goes to stdout", CheckSwitch},
    {nullptr, "HCCL_OP_EXPANSION_MODE", "MODE", "none", "HOST_TS: dispatchers record no subgraphs", CheckNothing},
    {nullptr, "HCCL_CONNECT_TIMEOUT", "S", "120", "seconds that ranks wait for each other at first", CheckConnectTimeout},
    {nullptr, "HCCL_EXEC_TIMEOUT", "S", "1836", "seconds that an operation waits for other ranks", CheckExecTimeout},
    {nullptr, "HCCL_IF_IP", "ADDRESS", "none", "the address that a rank offers", CheckNothing},
    {nullptr, "HCCL_SOCKET_IFNAME", "NAMES", "any", "the interfaces whose addresses a rank may offer", CheckNothing},
    {nullptr, "HCCL_RDMA_TIMEOUT", "N", "20", "how long a peer on another host may be silent", CheckRdmaTimeout},
    {nullptr, "HCCL_RDMA_RETRY_CNT", "N", "7", "how often that long", CheckRdmaRetries},
    {nullptr, "HCCL_INTRA_ROCE_ENABLE", "N", "0", "1: ranks of one host use the network as well", CheckZeroOrOne},
    {nullptr, "ROPEWAY_HCCL_SECRET", "TEXT", "none", "what only the ranks know", CheckNothing, true},
    {nullptr, "ROPEWAY_HCCL_LINK_TIMEOUT", "S", "15", "seconds until a silent link counts as cut", CheckLinkTimeout},
};

}  // namespace

std::span<const Setting> Settings() { return kSettings; }

const Setting* FindSetting(const std::string& variable) {
  const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                   [&](const Setting& setting) { return variable == setting.variable; });
  return found == std::end(kSettings) ? nullptr : found;
}

}  // namespace ropeway::cli
