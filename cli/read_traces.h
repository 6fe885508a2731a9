// Traces read with a bar while it takes long.
#pragma once

#include <string>
#include <vector>

#include "cli/progress.h"
#include "cli/trace_data.h"

namespace ropeway::cli {

inline bool ReadWithBar(const std::vector<std::string>& paths, TraceData* trace, std::string* why) {
  Progress progress("reading", 1, Progress::kPatience);
  return ReadTraces(paths, trace, why, [&](size_t done, size_t all) { progress.Reach(paths[0], done, all); });
}

}  // namespace ropeway::cli
