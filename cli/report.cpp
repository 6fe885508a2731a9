// `ropeway report`: says why a traced program is slow, and writes the page that shows it.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_rows.h"
#include "cli/read_traces.h"
#include "cli/report_analysis.h"
#include "cli/report_limit.h"
#include "cli/report_page.h"

namespace ropeway::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> traces;
  std::string output;
  std::string findings;
  bool as_json = false;
  double limit = -1;  // GB/s; less than 0: measure it
};

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int Complain(const std::string& about) {
  std::fprintf(stderr, "ropeway report: %s\n", about.c_str());
  return kFound;
}

int WritePage(const ReportOptions& options, const TraceData& trace, const Answer& answer, Progress& progress) try {
  const std::string page = MakePage(trace, answer, options.findings.empty() ? "" : ReadWhole(options.findings));
  progress.Clear();
  WritePageFile(options.output, page, options.as_json ? stderr : stdout);
  return kDone;
} catch (const std::invalid_argument& problem) {
  return Complain("--findings " + options.findings + ": " + problem.what());
} catch (const std::runtime_error& problem) {
  return Complain(problem.what());
}

void PrintForMachines(const TraceData& trace, const Answer& answer) {
  JsonList findings{"findings", {}};
  for (const Finding& finding : answer.findings)
    findings.rows.push_back({{"pattern", finding.pattern},
                             {"cost_seconds", static_cast<double>(finding.cost_ns) * 1e-9},
                             {"what", finding.what},
                             {"where", SiteName(trace, finding.site)},
                             {"fix", finding.fix}});
  PrintJson({{"summary", answer.summary},
             {"seconds", static_cast<double>(trace.end_ns) * 1e-9},
             {"tasks", static_cast<uint64_t>(trace.tasks.size())},
             {"limit_bytes_per_second", answer.limit}},
            {findings});
}

int RunReport(const ReportOptions& options) {
  TraceData trace;
  std::string why;
  if (!ReadWithBar(options.traces, &trace, &why)) return Complain(why);
  Progress progress("making the report:", 3, Progress::kPatience);
  progress.Step("measuring the machine");
  const double measured = options.limit < 0 && !options.output.empty() ? MeasureLimit(trace) : 0;
  progress.Step("looking for what is slow");
  const Answer answer = Analyse(trace, options.limit >= 0 ? options.limit * 1e9 : measured);
  progress.Clear();
  if (options.as_json)
    PrintForMachines(trace, answer);
  else
    for (const std::string& line : Words(trace, answer)) std::printf("%s\n", line.c_str());
  if (options.output.empty()) return kDone;
  progress.Step("writing the page");
  return WritePage(options, trace, answer, progress);
}

}  // namespace

void AddReport(CLI::App& app, int* status) {
  CLI::App* command =
      app.add_subcommand("report", "why a traced program is slow, in words and as a page: ropeway report TRACE... [-o PAGE]");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("-o,--output", options->output, "write a page that shows it, one file that needs no other")->type_name("FILE");
  command->add_option("--findings", options->findings, "what ropeway check --json found, to be shown on the page")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command->add_option("--limit", options->limit, "the machine's limit, for the page [measured, when the trace is of this machine]")
      ->type_name("GB/S")
      ->check(CLI::Range(0.0, 1e6));
  command->add_flag("--json", options->as_json, "for machines: what was found, and what it costs");
  command->add_option("traces", options->traces, "what ropeway trace wrote; of one job, several")
      ->type_name("TRACE...")
      ->required()
      ->check(CLI::ExistingFile);
  command->callback([options, status] { *status = RunReport(*options); });
}

}  // namespace ropeway::cli
