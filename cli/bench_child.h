// Workloads that need other settings than this process has: settings are read once, so another process measures them.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_report.h"

namespace ropeway::cli {

// Runs `ropeway bench --filter FILTER` with VARIABLE=VALUE in its environment and returns its rows. What it says on
// stderr is seen; its table is not.
std::vector<BenchRow> BenchElsewhere(const std::string& variable, const std::string& value, const std::string& filter, bool quick);

}  // namespace ropeway::cli
