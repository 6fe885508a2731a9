// The JSON of `ropeway bench`: written for machines, and read back from a process that measured for us.
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/bench_report.h"
#include "cli/machine.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {
namespace {

constexpr const char* kAtMostName = "at most";
constexpr const char* kAtLeastName = "at least";

const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kSeconds: return "s";
    case Unit::kBytesPerSecond: return "B/s";
    case Unit::kRatio: return "ratio";
    case Unit::kPercent: return "%";
  }
  return "";
}

Unit UnitNamed(const std::string& name) {
  for (Unit unit : {Unit::kSeconds, Unit::kBytesPerSecond, Unit::kRatio, Unit::kPercent}) {
    if (name == UnitName(unit)) return unit;
  }
  throw std::runtime_error("no unit is called " + name);
}

nlohmann::ordered_json RowAsJson(const BenchRow& row) {
  nlohmann::ordered_json json;
  json["name"] = row.name;
  json["what"] = row.what;
  json["measured"] = row.measured;
  json["unit"] = UnitName(row.unit);
  if (row.beside) json["beside"] = {{"name", row.beside_name}, {"measured", *row.beside}};
  json["judged"] = row.judged.value;
  json["noise"] = row.judged.noise;
  json["workload"] = row.workload;
  if (!row.goal) return json;
  json["goal"] = {{"bound", row.goal->bound == Goal::kAtMost ? kAtMostName : kAtLeastName},
                  {"unit", UnitName(row.goal->unit)},
                  {"must", row.goal->must},
                  {"aim", row.goal->aim}};
  json["pass"] = row.goal->MustMet(row.judged);
  json["aim_met"] = row.goal->AimMet(row.judged);
  return json;
}

BenchRow RowFromJson(const nlohmann::ordered_json& json) {
  BenchRow row{json.at("name"),
               json.at("what"),
               json.at("measured"),
               UnitNamed(json.at("unit")),
               "",
               {},
               {json.at("judged").get<double>(), json.value("noise", 0.0)},
               {}};
  row.workload = json.value("workload", row.name);
  if (json.contains("beside")) {
    row.beside_name = json["beside"].at("name");
    row.beside = json["beside"].at("measured");
  }
  if (json.contains("goal")) {
    const auto& goal = json["goal"];
    row.goal =
        Goal{goal.at("bound") == kAtMostName ? Goal::kAtMost : Goal::kAtLeast, UnitNamed(goal.at("unit")), goal.at("must"), goal.at("aim")};
  }
  return row;
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

void BenchReport::WriteJson(const std::string& path) const {
  nlohmann::ordered_json json;
  json["format"] = 1;
  json["ropeway"] = ropewayGetVersion();
  json["engine"] = ropewayGetEngineName();
  json["peer"] = peer_ ? peer_->name() : "";
  json["quick"] = options_.quick;
  json["rounds"] = rounds();
  json["machine"] = MachineAsJson();
  json["busy_cores"] = busy_cores_;
  json["rows"] = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows_) json["rows"].push_back(RowAsJson(row));
  json["skipped"] = nlohmann::ordered_json::array();
  for (const Skipped& skip : skipped_) json["skipped"].push_back({{"name", skip.name}, {"why", skip.why}});
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::vector<BenchRow> RowsFromJson(const std::string& text) {
  const auto json = nlohmann::ordered_json::parse(text);
  std::vector<BenchRow> rows;
  for (const auto& row : json.at("rows")) rows.push_back(RowFromJson(row));
  return rows;
}

}  // namespace ropeway::cli
