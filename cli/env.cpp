// `ropeway env`: the shell lines that point builds and programs at the drop-in tree; eval "$(ropeway env)".
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/json_rows.h"

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

int RunEnv(bool as_json) {
  const Tree tree = FindTree();
  if (!tree.complete) {
    std::fprintf(stderr,
                 "ropeway env: %s is not a drop-in tree (no lib64/libascendcl.so with include/acl/acl.h).\n"
                 "Run the installed command, bin/ropeway of the tree.\n",
                 tree.root.c_str());
    return 1;
  }
  JsonRow facts;
  for (const TreeVariable& variable : TreeVariables(tree)) {
    facts.emplace_back(variable.name, variable.value);
    if (!as_json) Print(variable);
  }
  if (as_json) PrintJson(facts);
  return 0;
}

}  // namespace

void AddEnv(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("env", "print shell lines that point a build at this tree: eval \"$(ropeway env)\"");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "for machines: what stands in front in each variable");
  command->callback([as_json, status] { *status = RunEnv(*as_json); });
}

}  // namespace ropeway::cli
