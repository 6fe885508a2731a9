// The table of `ropeway bench`; see bench_report.h.
#include "cli/bench_report.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "cli/machine.h"
#include "cli/report_page.h"
#include "cli/table.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {
namespace {

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

std::vector<PageFigures::Column> Columns() {
  return {{"workload", false}, {"measured", true}, {"beside", true}, {"", false}, {"judged", true}, {"must", false}, {"result", false}};
}

size_t Wanted(const BenchReport& report, BenchSet set) {
  const std::vector<std::string> names = WorkloadNames(set);
  return static_cast<size_t>(std::count_if(names.begin(), names.end(), [&](const std::string& name) { return report.Wants(name); }));
}

}  // namespace

std::string FormatFigure(double value, Unit unit) {
  switch (unit) {
    case Unit::kSeconds: return value < 0 ? "-" + FormatSeconds(-value) : FormatSeconds(value);
    case Unit::kBytesPerSecond: return FormatGigabytes(value) + " GB/s";
    case Unit::kRatio: return Format(value < 9.995 ? "%.2fx" : "%.0fx", value);
    case Unit::kPercent: return Format("%.2f %%", value);
  }
  return "";
}

BenchReport::BenchReport(BenchOptions options, BenchSet set)
    : options_(std::move(options)), set_(set), busy_cores_(CoresBusy()), progress_(new Progress("measuring", Wanted(*this, set))) {
  constexpr double kDisturbing = 0.2;
  if (busy_cores_ < kDisturbing) return;
  std::fprintf(stderr, "ropeway bench: something else keeps %.1f of %d cores busy: figures will be lower and noisier than this machine's\n",
               busy_cores_, CoresAllowed());
}

std::string SizeName(size_t size_bytes) {
  return size_bytes < (1 << 20) ? Format("%zuk", size_bytes >> 10) : Format("%zum", size_bytes >> 20);
}

bool BenchReport::Begin(const std::string& name) {
  if (!Wants(name)) return false;
  if (ExplainWorkload(set_, name).empty())
    throw std::logic_error("bench: the workload " + name + " is not in the list of bench_workloads.cpp");
  begun_ = name;
  progress_->Step(name);
  return true;
}

void BenchReport::Add(BenchRow row) {
  if (row.workload.empty()) row.workload = begun_;
  rows_.push_back(std::move(row));
}

bool BenchReport::AllMet() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const BenchRow& row) { return !row.goal || row.goal->MustMet(row.judged); });
}

OpenClPeer* BenchReport::Peer() {
  if (!peer_tried_) {
    peer_tried_ = true;
    peer_ = OpenClPeer::Open(&why_no_peer_);
  }
  return peer_.get();
}

void BenchReport::PrintExplanations() const {
  std::printf("\n");
  std::string last;
  for (const BenchRow& row : rows_) {
    const std::string why = ExplainWorkload(set_, row.workload);
    if (why != last) std::printf("%s: %s\n", row.workload.c_str(), why.c_str());
    last = why;
  }
}

std::vector<std::string> BenchReport::Circumstances() const {
  std::vector<std::string> lines = {Format("%s, %d cores, %s last-level cache, %s, %s", CpuModel().c_str(), CoresAllowed(),
                                           LastLevelCache().c_str(), KernelRelease().c_str(), LibcVersion().c_str())};
  if (std::string_view(ropewayGetEngineName()) != "cpu") lines.push_back(ropewayGetEngineReason());
  lines.push_back(Format("Ropeway %s, engine %s; medians of %d shuffled rounds, ratios taken round by round", ropewayGetVersion(),
                         ropewayGetEngineName(), rounds()));
  return lines;
}

std::string BenchReport::Summary() const {
  size_t goals = 0;
  size_t met = 0;
  for (const BenchRow& row : rows_) {
    goals += row.goal ? 1 : 0;
    met += row.goal && row.goal->MustMet(row.judged) ? 1 : 0;
  }
  return Format("%zu of %zu goals met, %zu skipped", met, goals, skipped_.size());
}

void BenchReport::WritePage(const std::string& path) const {
  PageFigures figures{"Measured", Circumstances(), Columns(), {}};
  for (const BenchRow& row : rows_) {
    figures.rows.push_back(Cells(row));
    figures.rows.back().resize(figures.columns.size());
  }
  for (const Skipped& skip : skipped_) figures.words.push_back("skipped: " + skip.name + ": " + skip.why);
  WritePageFile(path, MakePage({}, {Summary(), {}, {}}, "", figures));
}

void BenchReport::PrintTable() const {
  progress_->Clear();
  for (const std::string& line : Circumstances()) std::printf("%s\n", line.c_str());
  std::printf("\n");
  std::vector<Column> columns;
  for (const PageFigures::Column& column : Columns()) columns.push_back({column.title, column.right ? Align::kRight : Align::kLeft});
  Table table(columns);
  for (const BenchRow& row : rows_) table.AddRow(Cells(row));
  table.Print(stdout);
  for (const Skipped& skip : skipped_) std::printf("SKIPPED  %s: %s\n", skip.name.c_str(), skip.why.c_str());
  std::printf("\n%s\n", Summary().c_str());
  if (options_.explain) PrintExplanations();
}

}  // namespace ropeway::cli
