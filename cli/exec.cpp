// `ropeway exec`: runs a program with Ropeway's libraries and Python module in front of every other, and with the settings that its
// flags give.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/settings.h"

namespace ropeway::cli {
namespace {

constexpr int kCannotRun = 126;  // as shells say it
constexpr int kNotFound = 127;

struct ExecOptions {
  std::vector<std::string> words;  // the program and its arguments
  std::deque<std::string> values;  // one per setting; a deque, so that the parser's references stay valid
  std::deque<bool> switches;
};

void AddSettings(CLI::App& command, ExecOptions& options) {
  for (const ropewaySetting& setting : Settings()) {
    std::string& value = options.values.emplace_back();
    bool& on = options.switches.emplace_back(false);
    const std::string flag = FlagOf(setting);
    if (flag.empty()) continue;
    const std::string meaning =
        std::string(setting.meaning) + (*setting.standard == '\0' ? "" : std::string(" [") + setting.standard + "]");
    if (*setting.placeholder == '\0') {
      command.add_flag(flag, on, meaning);
    } else {
      command.add_option(flag, value, meaning)->type_name(setting.placeholder)->check([&setting](const std::string& text) {
        return Usable(setting, text) ? "" : std::string(setting.wanted) + " is wanted";
      });
    }
  }
}

// What was not given stays as the environment has it.
void ExportSettings(const ExecOptions& options) {
  for (size_t i = 0; i < options.values.size(); ++i) {
    const char* variable = Settings()[i].variable;
    if (options.switches[i]) setenv(variable, "1", 1);
    if (!options.values[i].empty()) setenv(variable, options.values[i].c_str(), 1);
  }
}

void Export(const TreeVariable& variable) {
  const char* before = std::getenv(variable.name);
  const bool more = variable.in_front && before != nullptr && *before != '\0';
  setenv(variable.name, (more ? variable.value + ":" + before : variable.value).c_str(), 1);
}

// Returns only when the program could not be started.
int Execute(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  const bool plain_file = error == ENOENT && words[0].find('/') == std::string::npos && access(words[0].c_str(), X_OK) == 0;
  std::fprintf(stderr, "ropeway exec: cannot run %s: %s%s\n", words[0].c_str(), std::strerror(error),
               plain_file ? "; a program of this folder is written ./NAME" : "");
  return error == ENOENT ? kNotFound : kCannotRun;
}

int RunExec(const ExecOptions& options) {
  const Tree tree = FindTree();
  if (tree.library_folder.empty()) {
    std::fprintf(stderr, "ropeway exec: no lib64/libascendcl.so in %s; install the tree again\n", tree.root.c_str());
    return 1;
  }
  ExportSettings(options);
  for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
  return Execute(options.words);
}

}  // namespace

void AddExec(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("exec", "run a program on Ropeway: ropeway exec [OPTIONS] -- PROGRAM [ARGUMENTS...]");
  auto options = std::make_shared<ExecOptions>();
  AddSettings(*command, *options);
  command->add_option("command", options->words, "the program and its arguments, behind --")
      ->type_name("PROGRAM [ARGUMENTS...]")
      ->required();
  command->callback([options, status] { *status = RunExec(*options); });
}

}  // namespace ropeway::cli
