// The table of `ropeway bench`; see bench_report.h.
#include "cli/bench_report.h"

#include <cstdio>
#include <string_view>

#include "cli/machine.h"
#include "cli/table.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {
namespace {

std::string FormatFigure(double value, Unit unit) {
  switch (unit) {
    case Unit::kSeconds: return value < 0 ? "-" + FormatSeconds(-value) : FormatSeconds(value);
    case Unit::kBytesPerSecond: return FormatGigabytes(value) + " GB/s";
    case Unit::kRatio: return Format(value < 9.995 ? "%.2fx" : "%.0fx", value);
    case Unit::kPercent: return Format("%.2f %%", value);
  }
  return "";
}

// A goal's figure is round: "60 ns", not "60.0 ns".
std::string FormatGoal(const Goal& goal) {
  const char* sign = goal.bound == Goal::kAtMost ? "<=" : ">=";
  if (goal.unit == Unit::kSeconds) {
    return goal.must < 1e-6 ? Format("%s %.0f ns", sign, goal.must * 1e9) : Format("%s %.0f us", sign, goal.must * 1e6);
  }
  if (goal.unit == Unit::kBytesPerSecond) return Format("%s %g GB/s", sign, goal.must / 1e9);
  return goal.unit == Unit::kPercent ? Format("%s %g %%", sign, goal.must) : Format("%s %gx", sign, goal.must);
}

const char* Verdict(const BenchRow& row) {
  if (!row.goal->MustMet(row.judged)) return "FAIL";
  return row.goal->AimMet(row.judged) ? "pass, aim met" : "pass";
}

std::vector<std::string> Cells(const BenchRow& row) {
  std::vector<std::string> cells = {row.what, FormatFigure(row.measured, row.unit), row.beside ? FormatFigure(*row.beside, row.unit) : "",
                                    row.beside_name};
  if (row.goal) {
    cells.push_back(FormatFigure(row.judged, row.goal->unit));
    cells.push_back(FormatGoal(*row.goal));
    cells.push_back(Verdict(row));
  }
  return cells;
}

}  // namespace

std::string SizeName(size_t size_bytes) {
  return size_bytes < (1 << 20) ? Format("%zuk", size_bytes >> 10) : Format("%zum", size_bytes >> 20);
}

bool BenchReport::Begin(const std::string& name) {
  if (!Wants(name)) return false;
  begun_ = name;
  std::fprintf(stderr, "measuring %s\n", name.c_str());
  return true;
}

OpenClPeer* BenchReport::Peer() {
  if (!peer_tried_) {
    peer_tried_ = true;
    peer_ = OpenClPeer::Open(&why_no_peer_);
  }
  return peer_.get();
}

void BenchReport::PrintTable() const {
  std::printf("%s, %d cores, %s last-level cache, %s, %s\n", CpuModel().c_str(), CoresAllowed(), LastLevelCache().c_str(),
              KernelRelease().c_str(), LibcVersion().c_str());
  if (std::string_view(ropewayGetEngineName()) != "cpu") std::printf("%s\n", ropewayGetEngineReason());
  std::printf("Ropeway %s, engine %s; medians of %d shuffled rounds, ratios taken round by round\n\n", ropewayGetVersion(),
              ropewayGetEngineName(), rounds());
  Table table({{"workload"},
               {"measured", Align::kRight},
               {"beside", Align::kRight},
               {"", Align::kLeft},
               {"judged", Align::kRight},
               {"must", Align::kLeft},
               {"result", Align::kLeft}});
  size_t goals = 0;
  size_t met = 0;
  for (const BenchRow& row : rows_) {
    goals += row.goal ? 1 : 0;
    met += row.goal && row.goal->MustMet(row.judged) ? 1 : 0;
    table.AddRow(Cells(row));
  }
  table.Print(stdout);
  for (const Skipped& skip : skipped_) std::printf("SKIPPED  %s: %s\n", skip.name.c_str(), skip.why.c_str());
  std::printf("\n%zu of %zu goals met, %zu skipped\n", met, goals, skipped_.size());
}

}  // namespace ropeway::cli
