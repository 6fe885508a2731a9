// How the rows of a run stand beside those of an earlier one; see bench_report.h.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "cli/bench_report.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

// Runs differ by more than their rounds tell: memory lies elsewhere, neighbours come and go.
constexpr double kBetweenRuns = 0.03;
constexpr double kSure = 3;  // errors

const BenchRow* Find(const std::vector<BenchRow>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const BenchRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

bool SmallerIsBetter(const BenchRow& row) {
  if (row.goal) return row.goal->bound == Goal::kAtMost;
  return row.unit == Unit::kSeconds || row.unit == Unit::kPercent;
}

}  // namespace

Change ChangeOf(const BenchRow& before, const BenchRow& now) {
  const double difference = now.judged.value - before.judged.value;
  const double error = std::hypot(before.judged.noise, now.judged.noise);
  const double noise = std::max(kSure * error, kBetweenRuns * std::abs(before.judged.value));
  if (std::abs(difference) <= noise) return Change::kNoise;
  return (difference < 0) == SmallerIsBetter(now) ? Change::kBetter : Change::kWorse;
}

std::vector<BenchRow> ReadRows(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("bench: cannot read " + path);
  try {
    return RowsFromJson(std::string(std::istreambuf_iterator<char>(file), {}));
  } catch (const std::exception& error) {
    throw std::runtime_error("bench: " + path + " is not what ropeway bench --save writes: " + error.what());
  }
}

void BenchReport::PrintComparison(const std::vector<BenchRow>& before) const {
  constexpr const char* kWords[] = {"within noise", "better", "worse"};
  Table table({{"workload"}, {"before", Align::kRight}, {"now", Align::kRight}, {"change", Align::kRight}, {""}});
  for (const BenchRow& row : rows_) {
    const BenchRow* old = Find(before, row.name);
    const Unit unit = row.goal ? row.goal->unit : row.beside ? Unit::kRatio : row.unit;
    if (old == nullptr) {
      table.AddRow({row.what, "", FormatFigure(row.judged, unit), "", "new"});
      continue;
    }
    const double percent = old->judged.value == 0 ? 0 : 100 * (row.judged.value / old->judged.value - 1);
    table.AddRow({row.what, FormatFigure(old->judged, unit), FormatFigure(row.judged, unit), Format("%+.1f %%", percent),
                  kWords[static_cast<size_t>(ChangeOf(*old, row))]});
  }
  std::printf("\nBeside %s, what is judged: ratios where there is something to compare with\n\n", options_.compare_file.c_str());
  table.Print(stdout);
}

}  // namespace ropeway::cli
