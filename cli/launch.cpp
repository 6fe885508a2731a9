#include "cli/launch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/exit_codes.h"

namespace ropeway::cli {

bool HasLibrary(const char* command, const Tree& tree) {
  if (!tree.library_folder.empty()) return true;
  std::fprintf(stderr, "ropeway %s: no lib64/libascendcl.so in %s; install the tree again\n", command, tree.root.c_str());
  return false;
}

void Export(const TreeVariable& variable) {
  const char* before = std::getenv(variable.name);
  const bool more = variable.in_front && before != nullptr && *before != '\0';
  setenv(variable.name, (more ? variable.value + ":" + before : variable.value).c_str(), 1);
}

int StatusOf(int wait_status) { return WIFSIGNALED(wait_status) ? kBySignal + WTERMSIG(wait_status) : WEXITSTATUS(wait_status); }

int Execute(const char* command, std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  const bool plain_file = error == ENOENT && words[0].find('/') == std::string::npos && access(words[0].c_str(), X_OK) == 0;
  std::fprintf(stderr, "ropeway %s: cannot run %s: %s%s\n", command, words[0].c_str(), std::strerror(error),
               plain_file ? "; a program of this folder is written ./NAME" : "");
  return error == ENOENT ? kNotFound : kCannotRun;
}

}  // namespace ropeway::cli
