// The table and the JSON of `ropeway bench`; see bench_report.h.
#include "cli/bench_report.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/machine.h"
#include "cli/table.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {
namespace {

std::string FormatFigure(double value, Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return FormatSeconds(value);
    case Unit::kBytesPerSecond:
      return FormatGigabytes(value) + " GB/s";
    case Unit::kRatio:
      return Format(value < 9.995 ? "%.2fx" : "%.0fx", value);
    case Unit::kPercent:
      return Format("%.2f %%", value);
  }
  return "";
}

// A goal's figure is round: "60 ns", not "60.0 ns".
std::string FormatGoal(const Goal& goal) {
  const char* sign = goal.bound == Goal::kAtMost ? "<=" : ">=";
  if (goal.unit == Unit::kSeconds) {
    return goal.must < 1e-6 ? Format("%s %.0f ns", sign, goal.must * 1e9) : Format("%s %.0f us", sign, goal.must * 1e6);
  }
  return goal.unit == Unit::kPercent ? Format("%s %g %%", sign, goal.must) : Format("%s %gx", sign, goal.must);
}

const char* Verdict(const BenchRow& row) {
  if (!row.goal.MustMet(row.judged)) return "FAIL";
  return row.goal.AimMet(row.judged) ? "pass, aim met" : "pass";
}

const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return "s";
    case Unit::kBytesPerSecond:
      return "B/s";
    case Unit::kRatio:
      return "ratio";
    case Unit::kPercent:
      return "%";
  }
  return "";
}

nlohmann::ordered_json RowAsJson(const BenchRow& row) {
  nlohmann::ordered_json json;
  json["name"] = row.name;
  json["what"] = row.what;
  json["measured"] = row.measured;
  json["unit"] = UnitName(row.unit);
  if (row.beside) json["beside"] = {{"name", row.beside_name}, {"measured", *row.beside}};
  json["judged"] = row.judged;
  json["goal"] = {{"bound", row.goal.bound == Goal::kAtMost ? "at most" : "at least"},
                  {"unit", UnitName(row.goal.unit)},
                  {"must", row.goal.must},
                  {"aim", row.goal.aim}};
  json["pass"] = row.goal.MustMet(row.judged);
  json["aim_met"] = row.goal.AimMet(row.judged);
  return json;
}

nlohmann::ordered_json MachineAsJson() {
  nlohmann::ordered_json json;
  json["cpu"] = CpuModel();
  json["features"] = CpuFeatures();
  json["cores"] = CoresAllowed();
  json["last_level_cache"] = LastLevelCache();
  json["memory_bytes"] = MemoryInfo("MemTotal").value_or(0);
  json["kernel"] = KernelRelease();
  json["libc"] = LibcVersion();
  json["huge_pages"] = ChosenOption(ReadLine("/sys/kernel/mm/transparent_hugepage/enabled").value_or("unknown"));
  return json;
}

}  // namespace

bool BenchReport::Begin(const std::string& name) const {
  if (name.find(options_.filter) == std::string::npos) return false;
  std::fprintf(stderr, "measuring %s\n", name.c_str());
  return true;
}

bench::OpenClPeer* BenchReport::Peer() {
  if (!peer_tried_) {
    peer_tried_ = true;
    peer_ = bench::OpenClPeer::Open(&why_no_peer_);
  }
  return peer_.get();
}

void BenchReport::PrintTable() const {
  std::printf("%s, %d cores, %s last-level cache, %s, %s\n", CpuModel().c_str(), CoresAllowed(),
              LastLevelCache().c_str(), KernelRelease().c_str(), LibcVersion().c_str());
  std::printf("Ropeway %s, engine %s; medians of %d shuffled rounds, ratios taken round by round\n\n",
              ropewayGetVersion(), ropewayGetEngineName(), rounds());
  Table table({{"workload"},
               {"measured", Align::kRight},
               {"beside", Align::kRight},
               {"", Align::kLeft},
               {"judged", Align::kRight},
               {"must", Align::kLeft},
               {"result", Align::kLeft}});
  size_t met = 0;
  for (const BenchRow& row : rows_) {
    met += row.goal.MustMet(row.judged) ? 1 : 0;
    table.AddRow({row.what, FormatFigure(row.measured, row.unit), row.beside ? FormatFigure(*row.beside, row.unit) : "",
                  row.beside_name, FormatFigure(row.judged, row.goal.unit), FormatGoal(row.goal), Verdict(row)});
  }
  table.Print(stdout);
  for (const Skipped& skip : skipped_) std::printf("SKIPPED  %s: %s\n", skip.name.c_str(), skip.why.c_str());
  std::printf("\n%zu of %zu goals met, %zu skipped\n", met, rows_.size(), skipped_.size());
}

void BenchReport::WriteJson(const std::string& path) const {
  nlohmann::ordered_json json;
  json["format"] = 1;
  json["ropeway"] = ropewayGetVersion();
  json["engine"] = ropewayGetEngineName();
  json["peer"] = peer_ ? peer_->name() : "";
  json["quick"] = options_.quick;
  json["rounds"] = rounds();
  json["machine"] = MachineAsJson();
  json["rows"] = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows_) json["rows"].push_back(RowAsJson(row));
  json["skipped"] = nlohmann::ordered_json::array();
  for (const Skipped& skip : skipped_) json["skipped"].push_back({{"name", skip.name}, {"why", skip.why}});
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace ropeway::cli
