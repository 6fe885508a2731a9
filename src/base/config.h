// Every setting of Ropeway in one place: docs/config.md is the table for people, this is the one for code. Read once,
// when the runtime starts; the environment is not looked at anywhere else, except that version queries look for
// ASCEND_HOME_PATH at every call, as the original does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ropeway {

enum class ScheduleKind { kFast, kEarliest, kLatest, kRandom };

struct Config {
  std::string engine = "auto";                 // ROPEWAY_ENGINE: auto, cpu, cuda
  int devices = 8;                             // ROPEWAY_DEVICES: devices of the machine, before the visibility list
  size_t device_memory = kDefaultDeviceMemory; // ROPEWAY_DEVICE_MEMORY: bytes per device, committed on touch
  std::string soc_name = "Ascend910B1";        // ROPEWAY_SOC, or SOC_VERSION
  bool devices_set = false;                    // the two above were given, and are not for the machine to fill in
  bool device_memory_set = false;
  int cuda_ctas = 16;                          // ROPEWAY_CUDA_CTAS: blocks of threads that a batch takes from the GPU
  int lanes = 0;                               // ROPEWAY_LANES: worker threads; 0 = as many as the machine has cores, 8 at most
  bool host_access = false;                    // ROPEWAY_HOST_ACCESS: device addresses are readable by host code
  bool strict_alignment = false;               // ROPEWAY_STRICT_ALIGNMENT: the 64-byte rule answers 107000
  ScheduleKind schedule = ScheduleKind::kFast; // ROPEWAY_SCHEDULE: fast, earliest, latest, random:SEED
  uint64_t schedule_seed = 0;
  std::string trace_file;                      // ROPEWAY_TRACE: where the trace goes; empty = no trace
  int log_level = 3;                           // ROPEWAY_LOG_LEVEL, or ASCEND_GLOBAL_LOG_LEVEL: 0 debug .. 3 error, 4 none
  bool log_to_stdout = false;                  // ASCEND_SLOG_PRINT_TO_STDOUT
  // ASCEND_RT_VISIBLE_DEVICES: physical ids in the order of user ids. Empty list with visible_set: nothing is visible.
  bool visible_set = false;
  std::vector<int> visible;
  // What could not be understood, one line each: said once at start-up, and by `ropeway doctor`.
  std::vector<std::string> complaints;

  static constexpr size_t kDefaultDeviceMemory = size_t{64} << 30;
  static constexpr int kMaxDevices = 64;
};

// The process's settings, read at the first call.
const Config& GetConfig();

// Fills in what the settings leave to the machine. Installed by the layer that knows engines, before anybody asks.
using CompleteConfig = void (*)(Config&);
extern CompleteConfig g_complete_config;

// As above from a given lookup, for tests: `lookup(name)` returns a value or null.
Config ReadConfig(const char* (*lookup)(const char* name), CompleteConfig complete = nullptr);

}  // namespace ropeway
