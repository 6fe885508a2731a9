// The workloads of `ropeway bench` by name, and what each one is for: --list, --explain, and how many are still to come.
#pragma once

#include <string>
#include <vector>

namespace ropeway::cli {

enum class BenchSet { kCpu, kCuda, kScale, kHccl };

// In the order in which they run.
std::vector<std::string> WorkloadNames(BenchSet set);
// Nothing when no workload of the set is called so.
std::string ExplainWorkload(BenchSet set, const std::string& name);

}  // namespace ropeway::cli
