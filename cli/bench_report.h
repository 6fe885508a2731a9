// What `ropeway bench` knows about its results: rows with a measured figure, the figure beside it and the goal that
// judges them; printed as a table, written as JSON. The workloads (bench_*.cpp) fill it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench_workloads.h"
#include "cli/measure.h"
#include "cli/opencl_peer.h"
#include "cli/progress.h"

namespace ropeway::cli {

enum class Unit { kSeconds, kBytesPerSecond, kRatio, kPercent };

// What a figure must reach, and what it should.
struct Goal {
  enum Bound { kAtMost, kAtLeast };
  Bound bound;
  Unit unit;
  double must;
  double aim;

  bool MustMet(double figure) const { return bound == kAtMost ? figure <= must : figure >= must; }
  bool AimMet(double figure) const { return bound == kAtMost ? figure <= aim : figure >= aim; }
};

struct BenchRow {
  std::string name;  // stable: --filter and the JSON use it
  std::string what;  // for people
  double measured;
  Unit unit;
  std::string beside_name;       // whom we are measured beside; empty: nobody
  std::optional<double> beside;  // in the same unit
  Measured judged;               // the figure that the goal looks at, in the goal's unit
  std::optional<Goal> goal;      // empty: for information
  std::string workload = "";     // that made it; set by Add
};

struct BenchOptions {
  bool quick = false;
  bool scale = false;        // how costs grow, instead
  bool hccl = false;         // collectives, instead
  std::string filter;        // only workloads whose name contains it
  std::string json_file;     // empty: no file
  std::string html_file;     // a page; empty: none
  std::string engine;        // empty: as the settings have it
  std::string compare_file;  // of an earlier run; empty: none
  bool list = false;         // tell the workloads, and run none
  bool explain = false;      // say what each row is for
};

// How often everything is measured.
inline int RoundsOf(const BenchOptions& options) {
  if (options.hccl) return options.quick ? 3 : 7;
  if (options.scale) return options.quick ? 3 : 9;
  return options.quick ? 9 : 31;
}

// Of a row between two runs, as far as their noise lets one say.
enum class Change { kNoise, kBetter, kWorse };
Change ChangeOf(const BenchRow& before, const BenchRow& now);

std::string FormatFigure(double value, Unit unit);

class BenchReport {
 public:
  BenchReport(BenchOptions options, BenchSet set);

  const BenchOptions& options() const { return options_; }
  int rounds() const { return RoundsOf(options_); }
  // Whether the filter lets this workload through.
  bool Wants(const std::string& name) const { return name.find(options_.filter) != std::string::npos; }
  // The same; if it does, says on stderr that it begins. The name is one of the set's.
  bool Begin(const std::string& name);
  // The workload that began last.
  const std::string& begun() const { return begun_; }

  void Add(BenchRow row);
  // A workload that cannot run here. Skips are listed, never silent.
  void Skip(std::string name, std::string why) { skipped_.push_back({std::move(name), std::move(why)}); }

  // PoCL, opened at first use; null when it is not there (why_no_peer() then tells).
  OpenClPeer* Peer();
  const std::string& why_no_peer() const { return why_no_peer_; }

  bool empty() const { return rows_.empty() && skipped_.empty(); }
  // Every goal was met that could be judged.
  bool AllMet() const;
  void PrintTable() const;
  void PrintComparison(const std::vector<BenchRow>& before) const;
  void WriteJson(const std::string& path) const;
  void WritePage(const std::string& path) const;

 private:
  struct Skipped {
    std::string name;
    std::string why;
  };

  void PrintExplanations() const;
  std::vector<std::string> Circumstances() const;  // lines
  std::string Summary() const;

  BenchOptions options_;
  BenchSet set_;
  double busy_cores_;  // with what others do, when the run began
  std::string begun_;
  std::unique_ptr<Progress> progress_;
  std::vector<BenchRow> rows_;
  std::vector<Skipped> skipped_;
  bool peer_tried_ = false;
  std::unique_ptr<OpenClPeer> peer_;
  std::string why_no_peer_;
};

// The rows of what WriteJson wrote.
std::vector<BenchRow> RowsFromJson(const std::string& text);
std::vector<BenchRow> ReadRows(const std::string& path);

// A size as the names of workloads have it: "4k", "16m".
std::string SizeName(size_t size_bytes);

// What the names of workloads that one lane does by itself end with.
inline constexpr const char* kOneLaneSuffix = "_one_lane";
// Whether this is the process that measures them.
bool OneLaneHere();

// The workloads. Each verifies its data once, then measures, and throws when bytes differ or a call is refused.
void BenchSubmit(BenchReport& report);       // submit_4k, submit_4k_over_pocl
void BenchSmallCopies(BenchReport& report);  // burst_1000x4k, round_trip_4k, round_trip_4k_after_idle
void BenchThenRead(BenchReport& report);     // then_read_*
void BenchLargeCopies(BenchReport& report);  // single_*, pocl_512m
void BenchBatches(BenchReport& report);      // batch_submit_16k, batch_*
void BenchOneLane(BenchReport& report);      // single_*_one_lane, batch_*_one_lane
void BenchLoops(BenchReport& report);        // loop_h2d_*, loop_d2d_*
void BenchRows(BenchReport& report);         // rows_*
void BenchStaged(BenchReport& report);       // staged_*
void BenchDescriptors(BenchReport& report);  // descriptor_*
void BenchGraphs(BenchReport& report);       // graph_1000x4k
void BenchHandOver(BenchReport& report);     // hand_over, event_hand_over, value_hand_over
void BenchImported(BenchReport& report);     // imported_256m
void BenchManyStreams(BenchReport& report);  // streams_*, idle_100_streams
void BenchOtherWays(BenchReport& report);    // to_host_16m, on_device_16m, to_host_batch_16k
// The two of BenchOneLane, where OneLaneHere().
void BenchLargeCopiesOnOneLane(BenchReport& report);
void BenchBatchesOnOneLane(BenchReport& report);
// How costs grow (--scale): pending_frees_*, blocked_streams_*, idle_streams_*, random_frees_*, registrations_*, replay_branches_*,
// value_waits_*
void BenchScale(BenchReport& report);
// Collectives of processes (--hccl): all_reduce_*, all_gather_*, all_to_all_*
void BenchHccl(BenchReport& report);
// All of the CUDA engine's (bench_gpu.h), beside raw CUDA.
void BenchOnGpu(BenchReport& report);

}  // namespace ropeway::cli
