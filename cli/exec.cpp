// `ropeway exec`: runs a program with Ropeway's libraries and Python module in front of every other, and with the settings that its
// flags give.
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/settings.h"
#include "src/base/fault_rules.h"

namespace ropeway::cli {
namespace {

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
        if (Usable(setting, text)) return std::string();
        return std::string(setting.variable) == "ROPEWAY_FAULTS" ? ParseFaultRules(text).wrong : std::string(setting.wanted) + " is wanted";
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

int RunExec(const ExecOptions& options) {
  const Tree tree = FindTree();
  if (!HasLibrary("exec", tree)) return 1;
  ExportSettings(options);
  for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
  return Execute("exec", options.words);
}

}  // namespace

void AddExec(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("exec", "run a program on Ropeway: ropeway exec [OPTIONS] -- PROGRAM [ARGUMENTS...]");
  auto options = std::make_shared<ExecOptions>();
  AddSettings(*command, *options);
  command->add_option("PROGRAM", options->words, "the program and its arguments, behind --")
      ->type_name("PROGRAM [ARGUMENTS...]")
      ->required();
  command->callback([options, status] { *status = RunExec(*options); });
}

}  // namespace ropeway::cli
