// See run_self.h.
#include "cli/run_self.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_codes.h"
#include "cli/launch.h"

namespace ropeway::cli {
namespace {

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

}  // namespace

int RunSelf(std::vector<std::string> words, const std::string& variable, const std::string& value) {
  std::vector<std::string> environment = EnvironmentWith(variable, value);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, Pointers(words).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child) return kCannotRun;
  return StatusOf(status);
}

}  // namespace ropeway::cli
