// `ropeway env`: the shell lines that point builds and programs at the drop-in tree; eval "$(ropeway env)".
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/tree.h"

namespace ropeway::cli {
namespace {

// One shell word, whatever is in it.
std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

void PrintPlain(const char* variable, const std::string& value) {
  std::printf("export %s=%s\n", variable, Quote(value).c_str());
}

// In front of what the variable has; no empty entry when it has nothing, because that would mean the current folder.
void PrintInFront(const char* variable, const std::string& folder) {
  std::printf("export %s=%s\"${%s:+:$%s}\"\n", variable, Quote(folder).c_str(), variable, variable);
}

int RunEnv() {
  const Tree tree = FindTree();
  if (!tree.complete) {
    std::fprintf(stderr,
                 "ropeway env: %s is not a drop-in tree (no lib64/libascendcl.so with include/acl/acl.h).\n"
                 "Run the installed command, bin/ropeway of the tree.\n",
                 tree.root.c_str());
    return 1;
  }
  // The names under which different clients look for the tree.
  for (const char* variable :
       {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH", "ASCEND_ROOT", "CANN_INSTALL_DIR"}) {
    PrintPlain(variable, tree.root);
  }
  PrintInFront("PATH", tree.root + "/bin");
  PrintInFront("LD_LIBRARY_PATH", tree.root + "/lib64");
  PrintInFront("LIBRARY_PATH", tree.root + "/lib64");
  PrintInFront("CPATH", tree.root + "/include");
  PrintInFront("CMAKE_PREFIX_PATH", tree.root);
  return 0;
}

}  // namespace

void AddEnv(CLI::App& app, int* status) {
  CLI::App* command =
      app.add_subcommand("env", "print shell lines that point a build at this tree: eval \"$(ropeway env)\"");
  command->callback([status] { *status = RunEnv(); });
}

}  // namespace ropeway::cli
