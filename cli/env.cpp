// `ropeway env`: the shell lines that point builds and programs at the drop-in tree; eval "$(ropeway env)".
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/environment.h"

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

void Print(const TreeVariable& variable) {
  std::string line = std::string("export ") + variable.name + "=" + Quote(variable.value);
  // No empty entry when the list has nothing, because that would mean the current folder.
  if (variable.in_front) line += std::string("\"${") + variable.name + ":+:$" + variable.name + "}\"";
  std::puts(line.c_str());
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
  for (const TreeVariable& variable : TreeVariables(tree)) Print(variable);
  return 0;
}

}  // namespace

void AddEnv(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("env", "print shell lines that point a build at this tree: eval \"$(ropeway env)\"");
  command->callback([status] { *status = RunEnv(); });
}

}  // namespace ropeway::cli
