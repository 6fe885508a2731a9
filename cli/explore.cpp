// `ropeway explore`: runs a program under many legal orders of its work, and stops at the first one under which it fails.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_rows.h"
#include "cli/launch.h"
#include "cli/progress.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

struct ExploreOptions {
  std::vector<std::string> words;
  unsigned seeds = 200;
  unsigned first_seed = 1;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool json = false;
};

// The plain order first: a program that fails there has nothing to explore.
std::vector<std::string> Schedules(const ExploreOptions& options) {
  std::vector<std::string> schedules{"fast", "earliest", "latest"};
  for (unsigned i = 0; i < options.seeds; ++i) schedules.push_back("random:" + std::to_string(options.first_seed + i));
  return schedules;
}

class Explorer {
 public:
  explicit Explorer(const ExploreOptions& options) : options_(options) {
    std::string pattern = (std::filesystem::temp_directory_path() / "ropeway-explore-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~Explorer() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  int Run() {
    if (folder_.empty()) {
      std::perror("ropeway explore: no temporary folder");
      return 1;
    }
    Progress progress("running under", schedules_.size());
    size_t next = 0;
    while (failed_ == kNone && (next < schedules_.size() || !running_.empty())) {
      while (next < schedules_.size() && running_.size() < options_.jobs) {
        if (OnTerminal(stderr)) progress.Step(schedules_[next]);  // elsewhere a line for each would drown the answer
        if (!Start(next++)) return 1;
      }
      Reap();
    }
    while (!running_.empty()) Reap();
    progress.Clear();
    options_.json ? ReportAsJson() : Report();
    return failed_ == kNone ? kDone : kFound;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  bool Start(size_t index) {
    const pid_t program = fork();
    if (program < 0) {
      std::perror("ropeway explore: no process");
      return false;
    }
    if (program != 0) {
      running_[program] = index;
      return true;
    }
    const int output = open(LogOf(index).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
      dup2(output, STDERR_FILENO);
    }
    setenv("ROPEWAY_SCHEDULE", schedules_[index].c_str(), 1);
    _exit(Execute("explore", options_.words));
  }

  void Reap() {
    int status = 0;
    const pid_t program = waitpid(-1, &status, 0);
    if (program < 0) return;
    const size_t index = running_[program];
    running_.erase(program);
    ++runs_;
    if (status == 0) return RemoveLog(index);
    // The first in the order in which they were started: so the same command gives the same answer.
    if (index < failed_) {
      failed_ = index;
      status_ = StatusOf(status);
    }
  }

  void ReportAsJson() const {
    std::string output;
    if (failed_ != kNone) {
      std::ifstream log(LogOf(failed_));
      output.assign(std::istreambuf_iterator<char>(log), {});
    }
    PrintJson({{"runs", uint64_t{runs_}},
               {"failed", failed_ != kNone},
               {"schedule", failed_ == kNone ? "" : schedules_[failed_]},
               {"status", static_cast<uint64_t>(status_)},
               {"output", output}});
  }

  void Report() const {
    if (failed_ == kNone) {
      std::printf("ropeway explore: %u runs, all good\n", runs_);
      return;
    }
    std::ifstream log(LogOf(failed_));
    for (std::string line; std::getline(log, line);) std::printf("  | %s\n", line.c_str());
    std::printf("ropeway explore: status %d under the schedule %s, run %u. The same again:\n  ROPEWAY_SCHEDULE=%s", status_,
                schedules_[failed_].c_str(), runs_, schedules_[failed_].c_str());
    for (const std::string& word : options_.words) std::printf(" %s", word.c_str());
    std::printf("\n");
  }

  std::string LogOf(size_t index) const { return folder_ + "/" + schedules_[index]; }
  void RemoveLog(size_t index) const { unlink(LogOf(index).c_str()); }

  const ExploreOptions& options_;
  std::string folder_;
  const std::vector<std::string> schedules_ = Schedules(options_);
  std::map<pid_t, size_t> running_;  // places in schedules_, as is failed_
  size_t failed_ = kNone;
  int status_ = 0;
  unsigned runs_ = 0;
};

int RunExplore(const ExploreOptions& options) {
  const Tree tree = FindTree();
  if (!HasLibrary("explore", tree)) return 1;
  for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
  return Explorer(options).Run();
}

}  // namespace

void AddExplore(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand(
      "explore", "run a program under many legal orders of its work: ropeway explore [OPTIONS] -- PROGRAM [ARGUMENTS...]");
  auto options = std::make_shared<ExploreOptions>();
  command->add_option("--seeds", options->seeds, "how many random orders [200]")->type_name("N");
  command->add_option("--first", options->first_seed, "the first seed [1]")->type_name("SEED");
  command->add_option("--jobs", options->jobs, "how many at a time [the machine's cores]")->type_name("N")->check(CLI::Range(1, 1024));
  command->add_option("PROGRAM", options->words, "the program and its arguments, behind --")
      ->type_name("PROGRAM [ARGUMENTS...]")
      ->required();
  command->add_flag("--json", options->json, "for machines");
  command->callback([options, status] { *status = RunExplore(*options); });
}

}  // namespace ropeway::cli
