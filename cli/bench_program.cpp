#include "cli/bench_program.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "cli/exit_codes.h"
#include "cli/json_rows.h"
#include "cli/report_analysis.h"
#include "cli/report_index.h"
#include "cli/report_limit.h"
#include "cli/report_page.h"
#include "cli/run_program.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

// All copies in one direction. Time in which several ran at once counts once.
struct Direction {
  uint64_t copies = 0, bytes = 0;
  Spans busy;

  double seconds() const { return static_cast<double>(Length(busy)) * 1e-9; }
  double rate() const { return busy.empty() || seconds() <= 0 ? 0 : static_cast<double>(bytes) / seconds(); }
};

constexpr const char* kAllCopies = "all copies";

std::map<std::string, Direction> Directions(const TraceData& trace) {
  const TraceIndex index(trace);
  std::map<std::string, Direction> directions;
  for (const TraceTask& task : trace.tasks) {
    if (!index.IsCopy(task) || task.start_ns < 0 || task.end_ns < 0) continue;
    for (const std::string& name : {std::string(index.Name(task.direction)), std::string(kAllCopies)}) {
      Direction& one = directions[name.empty() ? "other" : name];
      ++one.copies;
      one.bytes += task.bytes;
      one.busy.emplace_back(task.start_ns, task.end_ns);
    }
  }
  for (auto& [name, one] : directions) one.busy = Union(std::move(one.busy));
  return directions;
}

struct Outcome {
  ProgramRun plain, traced;
  TraceData trace;
  Answer answer;

  double TracingCost() const { return plain.seconds <= 0 ? 0 : traced.seconds / plain.seconds - 1; }
};

std::vector<std::vector<std::string>> Rows(const Outcome& outcome) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, one] : Directions(outcome.trace)) {
    const std::string share = outcome.answer.limit <= 0 ? "-" : Format("%.0f %%", 100 * one.rate() / outcome.answer.limit);
    rows.push_back(
        {name, FormatCount(one.copies), FormatBytes(one.bytes), FormatSeconds(one.seconds()), FormatGigabytes(one.rate()), share});
  }
  return rows;
}

const std::vector<PageFigures::Column> kColumns = {{"direction", false},  {"copies", true}, {"bytes", true},
                                                   {"copying for", true}, {"GB/s", true},   {"of the limit", true}};

std::string LimitWords(double limit) {
  return limit <= 0 ? "the machine's limit is not known here: the trace is of another machine or engine"
                    : "the machine's limit is " + FormatGigabytes(limit) + " GB/s, by plain loops on as many threads as help";
}

std::string CostWords(const Outcome& outcome) {
  return Format("%s untraced, %s traced: %+.1f %% in one run each", FormatSeconds(outcome.plain.seconds).c_str(),
                FormatSeconds(outcome.traced.seconds).c_str(), 100 * outcome.TracingCost());
}

void Print(const Outcome& outcome) {
  std::vector<Column> columns;
  for (const PageFigures::Column& column : kColumns) columns.push_back({column.title, column.right ? Align::kRight : Align::kLeft});
  Table table(columns);
  for (const std::vector<std::string>& row : Rows(outcome)) table.AddRow(row);
  table.Print(stdout);
  std::printf("%s\n%s\n", LimitWords(outcome.answer.limit).c_str(), CostWords(outcome).c_str());
  for (const std::string& line : Words(outcome.trace, outcome.answer)) std::printf("%s\n", line.c_str());
}

void WriteFacts(const Outcome& outcome, const std::string& path) {
  JsonList directions{"directions", {}}, words{"findings", {}};
  for (const auto& [name, one] : Directions(outcome.trace))
    directions.rows.push_back({{"direction", name},
                               {"copies", one.copies},
                               {"bytes", one.bytes},
                               {"seconds", one.seconds()},
                               {"bytes_per_second", one.rate()},
                               {"of_limit", outcome.answer.limit <= 0 ? 0 : one.rate() / outcome.answer.limit}});
  for (const Finding& finding : outcome.answer.findings)
    words.rows.push_back({{"pattern", finding.pattern},
                          {"cost_seconds", static_cast<double>(finding.cost_ns) * 1e-9},
                          {"words", Sentence(outcome.trace, finding)}});
  WriteJsonFile(path,
                {{"seconds_untraced", outcome.plain.seconds},
                 {"seconds_traced", outcome.traced.seconds},
                 {"tracing_cost", outcome.TracingCost()},
                 {"limit_bytes_per_second", outcome.answer.limit},
                 {"summary", outcome.answer.summary}},
                {directions, words});
}

// In the user's folder for such things, gone when the figures are.
class ScratchTrace {
 public:
  ScratchTrace() : folder_((std::filesystem::temp_directory_path() / "ropeway-bench-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder for a trace: " + folder_);
  }
  ~ScratchTrace() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScratchTrace(const ScratchTrace&) = delete;
  ScratchTrace& operator=(const ScratchTrace&) = delete;
  std::string file() const { return folder_ + "/bench.rwt"; }

 private:
  std::string folder_;
};

int NothingSeen(int status) {
  if (status == kDone)
    std::fprintf(stderr, "ropeway bench: nothing was recorded: the program brought up no device, or uses another AscendCL\n");
  return status == kDone ? kFound : status;
}

}  // namespace

int BenchProgram(const BenchOptions& options, const std::vector<std::string>& words) {
  const ScratchTrace scratch;
  Outcome outcome;
  outcome.plain = RunProgram("bench", words, "");
  if (outcome.plain.status != kDone) return outcome.plain.status;
  outcome.traced = RunProgram("bench", words, scratch.file());
  if (!outcome.traced.recorded || outcome.traced.status != kDone) return NothingSeen(outcome.traced.status);
  std::string why;
  if (!ReadTraces({scratch.file()}, &outcome.trace, &why)) throw std::runtime_error(why);
  outcome.answer = Analyse(outcome.trace, MeasureLimit(outcome.trace));
  Print(outcome);
  if (!options.json_file.empty()) WriteFacts(outcome, options.json_file);
  if (!options.html_file.empty())
    WritePageFile(options.html_file,
                  MakePage(outcome.trace, outcome.answer, "",
                           {"Measured", {LimitWords(outcome.answer.limit), CostWords(outcome)}, kColumns, Rows(outcome)}));
  return kDone;
}

}  // namespace ropeway::cli
