// `ropeway bench`: the goals of the project, measured on this machine beside raw copies and, on the CPU engine, beside
// PoCL.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cli/acl_objects.h"
#include "cli/bench_program.h"
#include "cli/bench_rank.h"
#include "cli/bench_report.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/table.h"

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

void BenchOnCpu(BenchReport& report) {
  for (auto* workloads : {BenchSubmit, BenchSmallCopies, BenchThenRead, BenchLargeCopies, BenchBatches, BenchOneLane, BenchLoops, BenchRows,
                          BenchStaged, BenchDescriptors, BenchGraphs, BenchHandOver, BenchImported, BenchManyStreams, BenchOtherWays}) {
    RunWorkloads(workloads, report);
  }
}

// False when the settings ask for an engine that cannot be had here: the figures of another one would mislead.
bool HasEngine(const std::string& wanted) {
  if (wanted.empty() || wanted == "auto" || wanted == ropewayGetEngineName()) return true;
  std::fprintf(stderr, "ropeway bench: there is no engine '%s' here (%s)\n", wanted.c_str(), ropewayGetEngineReason());
  return false;
}

int List(BenchSet set, const BenchOptions& options) {
  Table table({{""}, {""}});
  for (const std::string& name : WorkloadNames(set)) {
    if (name.find(options.filter) != std::string::npos) table.AddRow({name, options.explain ? ExplainWorkload(set, name) : ""});
  }
  table.Print(stdout);
  return kDone;
}

BenchSet SetOf(const BenchOptions& options) {
  if (options.hccl) return BenchSet::kHccl;
  if (options.scale) return BenchSet::kScale;
  return std::string_view(ropewayGetEngineName()) == "cuda" ? BenchSet::kCuda : BenchSet::kCpu;
}

void RunSet(BenchSet set, BenchReport& report) {
  DeviceScope device(0);
  switch (set) {
    case BenchSet::kCpu: return BenchOnCpu(report);
    case BenchSet::kCuda: return RunWorkloads(BenchOnGpu, report);
    case BenchSet::kScale: return RunWorkloads(BenchScale, report);
    case BenchSet::kHccl: return RunWorkloads(BenchHccl, report);
  }
}

int RunBench(const BenchOptions& options) {
  if (!HasEngine(options.engine)) return kWrongUsage;
  const BenchSet set = SetOf(options);
  if (options.list) return List(set, options);
  if (const std::optional<RankOfJob> job = options.hccl ? FindRank() : std::nullopt; job && job->rank > 0) {
    DeviceScope device(0);
    BenchAsRank(*job, options, nullptr);
    return kDone;
  }
  const std::vector<BenchRow> before = options.compare_file.empty() ? std::vector<BenchRow>() : ReadRows(options.compare_file);
  BenchReport report(options, set);
  RunSet(set, report);
  if (report.empty()) {
    std::fprintf(stderr, "ropeway bench: no workload has '%s' in its name; ropeway bench --list tells them\n", options.filter.c_str());
    return kWrongUsage;
  }
  report.PrintTable();
  if (!options.compare_file.empty()) report.PrintComparison(before);
  if (!options.json_file.empty()) report.WriteJson(options.json_file);
  if (!options.html_file.empty()) report.WritePage(options.html_file);
  return report.AllMet() ? kDone : kFound;
}

void RefuseWorkloadFlags(const CLI::App& command) {
  for (const char* flag : {"--compare", "--list", "--explain", "--quick", "--scale", "--hccl", "--filter"})
    if (command.count(flag) != 0) throw CLI::ExcludesError("PROGRAM", flag);
}

}  // namespace

void AddBench(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand(
      "bench", "measure copies beside raw copies, PoCL or CUDA, and judge the ratios; or a program: ropeway bench -- PROGRAM");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--engine", options->engine, "what moves the bytes: auto, cpu, cuda")->type_name("NAME");
  command->add_option("--json,--save", options->json_file, "also write the results and the machine's description to this file")
      ->type_name("FILE");
  command->add_option("--compare", options->compare_file, "show the results beside those that an earlier run saved, and mark what is noise")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command->add_option("--html", options->html_file, "also write a page that shows them")->type_name("FILE");
  command->add_flag("--list", options->list, "tell the workloads, and run none");
  command->add_flag("--explain", options->explain, "say what each workload is for");
  command->add_flag("--quick", options->quick, "fewer rounds: under a minute");
  command->add_flag("--scale", options->scale, "measure how costs grow with the number of streams, blocks, ranges and branches instead");
  command->add_flag("--hccl", options->hccl, "measure collectives of 2, 4 and 8 processes beside Open MPI instead");
  command->add_option("--filter", options->filter, "only the workloads whose name contains this text")->type_name("TEXT");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("PROGRAM", *words, "a program to be run twice, untraced and traced, instead of the workloads; behind --")
      ->type_name("PROGRAM [ARGUMENTS...]");
  command->callback([command, options, words, status] {
    if (!options->engine.empty()) setenv("ROPEWAY_ENGINE", options->engine.c_str(), 1);
    if (options->hccl && options->scale) throw CLI::ExcludesError("--hccl", "--scale");
    if (!words->empty()) RefuseWorkloadFlags(*command);
    *status = words->empty() ? RunBench(*options) : BenchProgram(*options, *words);
  });
}

}  // namespace ropeway::cli
