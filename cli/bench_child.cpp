// Starts this program again and reads its JSON from memory that both share; see bench_child.h.
#include "cli/bench_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "cli/exit_codes.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

// A file without a name, open in this process and in those it starts.
class NamelessFile {
 public:
  NamelessFile() : descriptor_(memfd_create("ropeway-bench", 0)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed: no file for the results of another process");
  }
  ~NamelessFile() { close(descriptor_); }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  std::string path() const { return Format("/proc/self/fd/%d", descriptor_); }
  std::string Contents() const {
    std::string text;
    char buffer[4096];
    for (off_t at = 0;; at = static_cast<off_t>(text.size())) {
      const ssize_t got = pread(descriptor_, buffer, sizeof(buffer), at);
      if (got <= 0) return text;
      text.append(buffer, static_cast<size_t>(got));
    }
  }

 private:
  int descriptor_;
};

std::vector<std::string> EnvironmentWith(const std::string& variable, const std::string& value) {
  std::vector<std::string> lines = {variable + "=" + value};
  for (char** line = environ; *line != nullptr; ++line) {
    if (std::string(*line).rfind(variable + "=", 0) != 0) lines.push_back(*line);
  }
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs this program with these arguments to its end, its stdout thrown away.
void RunSelf(std::vector<std::string> arguments, std::vector<std::string> environment) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > kFound) {
    throw std::runtime_error("the process that measures with other settings did not come to its end");
  }
}

}  // namespace

std::vector<BenchRow> BenchElsewhere(const std::string& variable, const std::string& value, const std::string& filter, bool quick) {
  const NamelessFile results;
  std::vector<std::string> arguments = {"ropeway", "bench", "--filter", filter, "--json", results.path()};
  if (quick) arguments.push_back("--quick");
  RunSelf(std::move(arguments), EnvironmentWith(variable, value));
  return RowsFromJson(results.Contents());
}

}  // namespace ropeway::cli
