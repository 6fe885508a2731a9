// What one lane reaches by itself. The number of lanes is read when the library starts, so another process measures it.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cli/bench_child.h"
#include "cli/bench_report.h"

namespace ropeway::cli {

bool OneLaneHere() {
  const char* lanes = std::getenv("ROPEWAY_LANES");
  return lanes != nullptr && std::strcmp(lanes, "1") == 0;
}

void BenchOneLane(BenchReport& report) {
  const char* workloads[] = {"single_256k", "single_1m", "single_4m", "single_16m", "single_64m",
                             "batch_4k",    "batch_16k", "batch_64k", "batch_128k"};
  const bool wanted = std::any_of(std::begin(workloads), std::end(workloads),
                                  [&](const char* name) { return report.Wants(std::string(name) + kOneLaneSuffix); });
  if (!wanted) return;
  if (OneLaneHere()) {
    BenchLargeCopiesOnOneLane(report);
    BenchBatchesOnOneLane(report);
    return;
  }
  for (BenchRow& row : BenchElsewhere("ROPEWAY_LANES", "1", kOneLaneSuffix, report.options().quick)) {
    if (report.Wants(row.name)) report.Add(std::move(row));
  }
}

}  // namespace ropeway::cli
