// `ropeway trace`: runs a program and keeps what it and its children recorded in one file; `trace merge` puts files together, and
// `trace export` writes them for other viewers.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_rows.h"
#include "cli/progress.h"
#include "cli/read_traces.h"
#include "cli/run_program.h"
#include "cli/trace_data.h"
#include "cli/trace_export.h"
#include "cli/trace_parts.h"

namespace ropeway::cli {
namespace {

struct RecordOptions {
  std::vector<std::string> words;
  std::string output = "ropeway.rwt";
  bool as_json = false;
};

int Complain(const char* command, const std::string& why) {
  std::fprintf(stderr, "ropeway %s: %s\n", command, why.c_str());
  return kFound;
}

uint64_t DroppedOf(const TraceData& trace) {
  uint64_t dropped = 0;
  for (const TraceProcess& process : trace.processes) dropped += process.dropped;
  return dropped;
}

void TellForMachines(const std::string& path, const TraceData& trace) {
  PrintJson({{"file", path},
             {"processes", static_cast<uint64_t>(trace.processes.size())},
             {"tasks", static_cast<uint64_t>(trace.tasks.size())},
             {"waits", static_cast<uint64_t>(trace.waits.size())},
             {"edges", static_cast<uint64_t>(trace.edges.size())},
             {"seconds", static_cast<double>(trace.end_ns) * 1e-9},
             {"dropped", DroppedOf(trace)}});
}

// One line of what is in the file.
int TellTrace(const std::string& path, bool as_json, int program_status) {
  TraceData trace;
  std::string why;
  if (!ReadWithBar({path}, &trace, &why)) return Complain("trace", why);
  if (as_json) {
    TellForMachines(path, trace);
    return program_status;
  }
  std::fprintf(stderr, "ropeway trace: %s has %zu tasks and %zu waits of %zu process%s\n", path.c_str(), trace.tasks.size(),
               trace.waits.size(), trace.processes.size(), trace.processes.size() == 1 ? "" : "es");
  if (const uint64_t dropped = DroppedOf(trace); dropped != 0)
    std::fprintf(stderr, "ropeway trace: %llu records were dropped, because no pages were ready for them\n",
                 static_cast<unsigned long long>(dropped));
  return program_status;
}

int RunTrace(const RecordOptions& options) try {
  const ProgramRun run = RunProgram("trace", options.words, options.output);
  if (run.recorded) return TellTrace(options.output, options.as_json, run.status);
  if (run.status != kCannotRun && run.status != kNotFound)
    std::fprintf(stderr, "ropeway trace: nothing was recorded: the program brought up no device, or uses another AscendCL\n");
  return run.status == kDone ? kFound : run.status;
} catch (const std::runtime_error& why) {
  return Complain("trace", why.what());
}

struct FileOptions {
  std::vector<std::string> files;
  std::string output;
  bool as_json = false;
};

int RunMerge(const FileOptions& options) {
  std::string why;
  {
    Progress progress("writing", 1, Progress::kPatience);
    if (!MergeTraces(options.files, options.output, &why, [&](size_t done, size_t all) { progress.Reach(options.output, done, all); }))
      return Complain("trace merge", why);
  }
  return options.as_json ? TellTrace(options.output, true, kDone) : kDone;
}

int RunExport(const FileOptions& options) {
  TraceData trace;
  std::string why;
  if (!ReadWithBar(options.files, &trace, &why)) return Complain("trace export", why);
  {
    Progress progress("writing", 1, Progress::kPatience);
    if (!ExportTrace(trace, options.output, &why, [&](size_t done, size_t all) { progress.Reach(options.output, done, all); }))
      return Complain("trace export", why);
  }
  if (options.as_json) TellForMachines(options.output, trace);
  return kDone;
}

void AddOnFiles(CLI::App& parent, const char* name, const char* meaning, const char* output_meaning, int* status,
                int (*run)(const FileOptions&)) {
  CLI::App* command = parent.add_subcommand(name, meaning);
  auto options = std::make_shared<FileOptions>();
  command->add_option("-o,--output", options->output, output_meaning)->type_name("FILE")->required();
  command->add_option("FILES", options->files, "traces")->type_name("FILES...")->required();
  command->add_flag("--json", options->as_json, "for machines: what is in the file");
  command->callback([options, status, run] { *status = run(*options); });
}

}  // namespace

void AddTrace(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand(
      "trace",
      "record what a program does: ropeway trace [-o FILE] -- PROGRAM [ARGUMENTS...]; ropeway trace merge|export FILES... -o FILE");
  auto options = std::make_shared<RecordOptions>();
  command->add_option("-o,--output", options->output, "where the trace goes [ropeway.rwt]")->type_name("FILE");
  command->add_flag("--json", options->as_json, "for machines: what is in the file, behind what the program says");
  command->add_option("PROGRAM", options->words, "the program and its arguments, behind --")->type_name("PROGRAM [ARGUMENTS...]");
  AddOnFiles(*command, "merge", "put traces of several processes or ranks into one file", "the merged trace", status, &RunMerge);
  AddOnFiles(*command, "export", "write traces for other viewers", "*.json (Chrome) or *.pftrace (Perfetto)", status, &RunExport);
  command->callback([command, options, status] {
    if (!command->get_subcommands().empty()) return;
    if (options->words.empty()) throw CLI::RequiredError("PROGRAM");
    *status = RunTrace(*options);
  });
}

}  // namespace ropeway::cli
