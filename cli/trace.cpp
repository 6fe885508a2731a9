// `ropeway trace`: runs a program and keeps what it and its children recorded in one file; `trace merge` puts files together, and
// `trace export` writes them for other viewers.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/launch.h"
#include "cli/trace_data.h"
#include "cli/trace_export.h"
#include "cli/trace_parts.h"

namespace ropeway::cli {
namespace {

struct RecordOptions {
  std::vector<std::string> words;
  std::string output = "ropeway.rwt";
};

int Complain(const char* command, const std::string& why) {
  std::fprintf(stderr, "ropeway %s: %s\n", command, why.c_str());
  return kFound;
}

// Where the processes of one run put their files until all have ended.
class Folder {
 public:
  explicit Folder(const std::string& output) : path_(output + ".parts-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) files.push_back(entry.path().string());
    return files;
  }

 private:
  std::string path_;
};

int WaitForTraced(pid_t program) {
  // Keys pressed at the terminal reach the program, too; its end is waited for.
  for (const int ignored : {SIGINT, SIGQUIT}) std::signal(ignored, SIG_IGN);
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return StatusOf(status);
}

// One line of what is in the file.
int TellTrace(const std::string& path, int program_status) {
  TraceData trace;
  std::string why;
  if (!ReadTraces({path}, &trace, &why)) return Complain("trace", why);
  uint64_t dropped = 0;
  for (const TraceProcess& process : trace.processes) dropped += process.dropped;
  std::fprintf(stderr, "ropeway trace: %s has %zu tasks and %zu waits of %zu process%s\n", path.c_str(), trace.tasks.size(),
               trace.waits.size(), trace.processes.size(), trace.processes.size() == 1 ? "" : "es");
  if (dropped != 0)
    std::fprintf(stderr, "ropeway trace: %llu records were dropped, because no pages were ready for them\n",
                 static_cast<unsigned long long>(dropped));
  return program_status;
}

int RunTrace(const RecordOptions& options) {
  const Tree tree = FindTree();
  if (!HasLibrary("trace", tree)) return kFound;
  const std::string output = std::filesystem::absolute(options.output).string();
  const Folder folder(output);
  if (folder.path().empty()) return Complain("trace", output + ": " + std::strerror(errno));
  const pid_t program = fork();
  if (program < 0) return Complain("trace", std::string("no process: ") + std::strerror(errno));
  if (program == 0) {
    for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
    // A percent sign in the folder's name is no sign of ours.
    std::string pattern;
    for (const char c : folder.path()) pattern += c == '%' ? "%%" : std::string(1, c);
    setenv("ROPEWAY_TRACE", (pattern + "/%h-%p.rwt").c_str(), 1);
    _exit(Execute("trace", options.words));
  }
  const int status = WaitForTraced(program);
  const std::vector<std::string> files = folder.Files();
  if (files.empty()) {
    if (status != kCannotRun && status != kNotFound)
      std::fprintf(stderr, "ropeway trace: nothing was recorded: the program brought up no device, or uses another AscendCL\n");
    return status == kDone ? kFound : status;
  }
  std::string why;
  if (!MergeTraces(files, output, &why)) return Complain("trace", why);
  return TellTrace(options.output, status);
}

int RunMerge(const std::vector<std::string>& files, const std::string& output) {
  std::string why;
  return MergeTraces(files, output, &why) ? kDone : Complain("trace merge", why);
}

int RunExport(const std::vector<std::string>& files, const std::string& output) {
  TraceData trace;
  std::string why;
  return ReadTraces(files, &trace, &why) && ExportTrace(trace, output, &why) ? kDone : Complain("trace export", why);
}

struct FileOptions {
  std::vector<std::string> files;
  std::string output;
};

void AddOnFiles(CLI::App& parent, const char* name, const char* meaning, const char* output_meaning, int* status,
                int (*run)(const std::vector<std::string>&, const std::string&)) {
  CLI::App* command = parent.add_subcommand(name, meaning);
  auto options = std::make_shared<FileOptions>();
  command->add_option("-o,--output", options->output, output_meaning)->type_name("FILE")->required();
  command->add_option("FILES", options->files, "traces")->type_name("FILES...")->required();
  command->callback([options, status, run] { *status = run(options->files, options->output); });
}

}  // namespace

void AddTrace(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand(
      "trace",
      "record what a program does: ropeway trace [-o FILE] -- PROGRAM [ARGUMENTS...]; ropeway trace merge|export FILES... -o FILE");
  auto options = std::make_shared<RecordOptions>();
  command->add_option("-o,--output", options->output, "where the trace goes [ropeway.rwt]")->type_name("FILE");
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
