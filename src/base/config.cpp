#include "base/config.h"

#include <atomic>
#include <cstdlib>

#include "base/fork.h"

namespace ropeway {
namespace {

void ReadSchedule(const std::string& text, Config& config) {
  config.schedule = text == "fast"       ? ScheduleKind::kFast
                    : text == "earliest" ? ScheduleKind::kEarliest
                    : text == "latest"   ? ScheduleKind::kLatest
                                         : ScheduleKind::kRandom;
  if (config.schedule == ScheduleKind::kRandom) config.schedule_seed = std::strtoull(text.c_str() + text.find(':') + 1, nullptr, 10);
}

// Variables by which the usual starters of ranks say which one a process is.
std::string RankOfLauncher(Lookup lookup) {
  for (const char* variable : {"RANK_ID", "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* const value = lookup == nullptr ? ForeignVariable(variable) : lookup(variable);
    if (value != nullptr && *value != '\0' && std::string_view(value).find_first_not_of("0123456789") == std::string_view::npos)
      return value;
  }
  return "";
}

}  // namespace

Config ReadConfig(Lookup lookup) {
  Config config;
  config.engine = SettingText("ROPEWAY_ENGINE", lookup);
  config.devices = static_cast<int>(SettingNumber("ROPEWAY_DEVICES", lookup));
  config.device_memory = static_cast<size_t>(SettingNumber("ROPEWAY_DEVICE_MEMORY", lookup));
  config.devices_set = GivenSetting("ROPEWAY_DEVICES", lookup).has_value();
  config.device_memory_set = GivenSetting("ROPEWAY_DEVICE_MEMORY", lookup).has_value();
  config.soc_name = SettingText("ROPEWAY_SOC", lookup);
  config.lanes = static_cast<int>(SettingNumber("ROPEWAY_LANES", lookup));
  config.copy_method = SettingText("ROPEWAY_COPY_METHOD", lookup);
  config.cuda_ctas = static_cast<int>(SettingNumber("ROPEWAY_CUDA_CTAS", lookup));
  config.host_access = SettingNumber("ROPEWAY_HOST_ACCESS", lookup) != 0;
  config.strict_alignment = SettingNumber("ROPEWAY_STRICT_ALIGNMENT", lookup) != 0;
  ReadSchedule(SettingText("ROPEWAY_SCHEDULE", lookup), config);
  config.trace_file = SettingText("ROPEWAY_TRACE", lookup);
  config.rank = RankOfLauncher(lookup);
  config.log_level = static_cast<int>(SettingNumber("ROPEWAY_LOG_LEVEL", lookup));
  config.log_to_stdout = SettingNumber("ASCEND_SLOG_PRINT_TO_STDOUT", lookup) != 0;
  config.visible = GivenSetting("ASCEND_RT_VISIBLE_DEVICES", lookup);
  static_cast<void>(GivenSetting("ROPEWAY_PYTHON_EXTENSIONS", lookup));  // the module looks for itself; what is wrong is said here
  return config;
}

const Config& GetConfig() {
  static std::atomic<const Config*> settings{nullptr};
  if (const Config* known = settings.load(std::memory_order_acquire)) return *known;
  const LockGuard lock(fork_lock::start);
  if (settings.load(std::memory_order_relaxed) == nullptr) settings.store(new Config(ReadConfig(nullptr)), std::memory_order_release);
  return *settings.load(std::memory_order_relaxed);
}

}  // namespace ropeway
