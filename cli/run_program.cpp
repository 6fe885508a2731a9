#include "cli/run_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "cli/launch.h"
#include "cli/measure.h"
#include "cli/trace_parts.h"

namespace ropeway::cli {
namespace {

// Where the processes of one run put their files until all have ended.
class Folder {
 public:
  explicit Folder(const std::string& output) : path_(output + ".parts-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error(output + ": " + std::strerror(errno));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // As ROPEWAY_TRACE wants it: a percent sign in the folder's name is no sign of ours.
  std::string Pattern() const {
    std::string pattern;
    for (const char c : path_) pattern += c == '%' ? "%%" : std::string(1, c);
    return pattern + "/%h-%p.rwt";
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) files.push_back(entry.path().string());
    return files;
  }

 private:
  std::string path_;
};

// Keys pressed at the terminal reach the program, too; its end is waited for.
int WaitFor(pid_t program) {
  for (const int ignored : {SIGINT, SIGQUIT}) std::signal(ignored, SIG_IGN);
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return StatusOf(status);
}

}  // namespace

ProgramRun RunProgram(const char* command, const std::vector<std::string>& words, const std::string& trace) {
  const Tree tree = FindTree();
  if (!HasLibrary(command, tree)) throw std::runtime_error("the program was not run");
  const std::string output = trace.empty() ? "" : std::filesystem::absolute(trace).string();
  std::optional<Folder> folder;
  if (!output.empty()) folder.emplace(output);
  std::fflush(nullptr);
  const Clock::time_point start = Clock::now();
  const pid_t program = fork();
  if (program < 0) throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  if (program == 0) {
    for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
    if (folder)
      setenv("ROPEWAY_TRACE", folder->Pattern().c_str(), 1);
    else
      unsetenv("ROPEWAY_TRACE");
    _exit(Execute(command, words));
  }
  ProgramRun run;
  run.status = WaitFor(program);
  run.seconds = SecondsSince(start);
  if (!folder) return run;
  const std::vector<std::string> files = folder->Files();
  std::string why;
  run.recorded = !files.empty();
  if (run.recorded && !MergeTraces(files, output, &why)) throw std::runtime_error(why);
  return run;
}

}  // namespace ropeway::cli
