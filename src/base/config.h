// What the environment says to the runtime, read once. What the machine adds to it is runtime/machine.h's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/settings.h"

namespace ropeway {

enum class ScheduleKind { kFast, kEarliest, kLatest, kRandom };

struct Config {
  std::string engine;  // auto, cpu or cuda
  int devices = 0;
  size_t device_memory = 0;
  bool devices_set = false;  // the two above were given, and are not for the machine to fill in
  bool device_memory_set = false;
  std::string soc_name;
  int lanes = 0;            // 0: as many as the engine thinks best
  std::string copy_method;  // of the CPU engine; "auto" for its own choice
  int cuda_ctas = 0;
  bool host_access = false;
  bool strict_alignment = false;
  ScheduleKind schedule = ScheduleKind::kFast;
  uint64_t schedule_seed = 0;
  std::string trace_file;  // empty: no trace
  std::string rank;        // as whoever started the process has it; empty: nobody said
  int log_level = 0;
  bool log_to_stdout = false;
  std::optional<std::string> visible;  // a list of physical ids
};

// The process's settings, read at the first call.
const Config& GetConfig();

Config ReadConfig(Lookup lookup);

}  // namespace ropeway
