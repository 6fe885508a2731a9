// `ropeway bench`: the goals of the project, measured on this machine beside raw copies and beside PoCL.
#include <cstdio>
#include <memory>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/commands.h"

namespace ropeway::cli {
namespace {

// ROPEWAY_SOC may name a product that lacks a call; its workloads are skipped then.
void RunWorkloads(void (*workloads)(BenchReport&), BenchReport& report) {
  try {
    workloads(report);
  } catch (const AclFailure& failure) {
    if (failure.code() != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) throw;
    report.Skip(report.begun(), "not on this product (207000), nor what follows it");
  }
}

int RunBench(const BenchOptions& options) {
  BenchReport report(options);
  DeviceScope device(0);
  for (auto* workloads : {BenchSubmit, BenchSmallCopies, BenchLargeCopies, BenchBatches, BenchDescriptors, BenchGraphs,
                          BenchHandOver, BenchImported, BenchManyStreams}) {
    RunWorkloads(workloads, report);
  }
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
