// This command, started again with a setting that it has not: settings are read once in a process.
#pragma once

#include <string>
#include <vector>

namespace ropeway::cli {

// Runs this program with these words and VARIABLE=VALUE to its end, its stdout thrown away, and returns its exit status.
int RunSelf(std::vector<std::string> words, const std::string& variable, const std::string& value);

}  // namespace ropeway::cli
