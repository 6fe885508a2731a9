// `ropeway bench -- program`: what the copies of a user's program reached of the machine's limit, and what watching them cost.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_report.h"

namespace ropeway::cli {

// The program's status where that is not 0; kFound where nothing could be seen.
int BenchProgram(const BenchOptions& options, const std::vector<std::string>& words);

}  // namespace ropeway::cli
