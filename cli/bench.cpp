// `ropeway bench`: the goals of the project, measured on this machine beside raw copies and beside PoCL.
#include <cstdio>
#include <memory>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/commands.h"

namespace ropeway::cli {
namespace {

int RunBench(const BenchOptions& options) {
  BenchReport report(options);
  DeviceScope device(0);
  BenchSubmit(report);
  BenchSmallCopies(report);
  BenchLargeCopies(report);
  BenchManyStreams(report);
  if (report.empty()) {
    std::fprintf(stderr, "ropeway bench: no workload has '%s' in its name\n", options.filter.c_str());
    return 2;
  }
  report.PrintTable();
  if (!options.json_file.empty()) report.WriteJson(options.json_file);
  return 0;
}

}  // namespace

void AddBench(CLI::App& app, int* status) {
  CLI::App* command =
      app.add_subcommand("bench", "measure copies beside raw copies and beside PoCL, and judge the ratios");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--json", options->json_file, "also write the results and the machine's description to this file")
      ->type_name("FILE");
  command->add_flag("--quick", options->quick, "fewer rounds: under 20 seconds");
  command->add_option("--filter", options->filter, "only the workloads whose name contains this text")
      ->type_name("TEXT");
  command->callback([options, status] { *status = RunBench(*options); });
}

}  // namespace ropeway::cli
