// One rank of `ropeway bench --hccl`: a process that mpirun or `ropeway ranks` has started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench_report.h"

namespace ropeway::cli {

struct RankOfJob {
  uint32_t rank;
  uint32_t size;
  bool one_host;
};
// What this process was told; nothing when nobody started it as a rank.
std::optional<RankOfJob> FindRank();

// The workloads, by collective and bytes. Of all-reduce the bytes are those of a rank's input; of the others, of all blocks.
inline constexpr uint32_t kBenchedRanks[] = {2, 4, 8};
inline constexpr size_t kBenchedBytes[] = {1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20, 32 << 20, 256 << 20};

// Measures with the other ranks. Rank 0 has a report, the others null.
void BenchAsRank(const RankOfJob& job, const BenchOptions& options, BenchReport* report);

}  // namespace ropeway::cli
