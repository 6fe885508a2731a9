// `ropeway report`: says why a traced program is slow, and writes the page that shows it.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/report_analysis.h"
#include "cli/report_limit.h"
#include "cli/report_page.h"

namespace ropeway::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> traces;
  std::string output;
  std::string findings;
  double limit = -1;  // GB/s; less than 0: measure it
};

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool WriteWhole(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return out.good();
}

int Complain(const std::string& about) {
  std::fprintf(stderr, "ropeway report: %s\n", about.c_str());
  return kFound;
}

int WritePage(const ReportOptions& options, const TraceData& trace, const Answer& answer) {
  std::string page;
  try {
    page = MakePage(trace, answer, options.findings.empty() ? "" : ReadWhole(options.findings));
  } catch (const std::invalid_argument& problem) {
    return Complain("--findings " + options.findings + ": " + problem.what());
  }
  if (!WriteWhole(options.output, page)) return Complain(options.output + " cannot be written: " + std::strerror(errno));
  std::printf("page: %s\n", options.output.c_str());
  return kDone;
}

int RunReport(const ReportOptions& options) {
  TraceData trace;
  std::string why;
  if (!ReadTraces(options.traces, &trace, &why)) return Complain(why);
  const double measured = options.limit < 0 && !options.output.empty() ? MeasureLimit(trace) : 0;
  const Answer answer = Analyse(trace, options.limit >= 0 ? options.limit * 1e9 : measured);
  for (const std::string& line : Words(trace, answer)) std::printf("%s\n", line.c_str());
  return options.output.empty() ? kDone : WritePage(options, trace, answer);
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
  command->add_option("traces", options->traces, "what ropeway trace wrote; of one job, several")
      ->type_name("TRACE...")
      ->required()
      ->check(CLI::ExistingFile);
  command->callback([options, status] { *status = RunReport(*options); });
}

}  // namespace ropeway::cli
