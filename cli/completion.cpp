// `ropeway completion`: lines for bash or zsh that complete commands, their flags, and the words that a flag takes;
// eval "$(ropeway completion)".
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"

namespace ropeway::cli {
namespace {

// "--engine auto|cpu|cuda": the words behind a flag. Of other values bash knows more than we do.
void PrintWords(const CLI::App& command, const CLI::Option& option, const std::string& flag) {
  std::string words = option.get_type_name();
  if (words.empty()) return;
  words.resize(std::min(words.find(":{"), words.size()));  // the parser says behind it which words it takes
  if (words.find('|') == std::string::npos) words.clear();
  std::replace(words.begin(), words.end(), '|', ' ');
  std::printf("    '%s --%s') words='%s' ;;\n", command.get_name().c_str(), flag.c_str(), words.c_str());
}

void PrintFlags(const CLI::App& command) {
  std::string flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& flag : option->get_lnames()) {
      flags += " --" + flag;
      PrintWords(command, *option, flag);
    }
  }
  std::printf("    '%s '*) words='%s' ;;\n", command.get_name().c_str(), flags.c_str());
}

int RunCompletion(const CLI::App& app, const std::string& shell) {
  std::string names;
  if (shell == "zsh") std::printf("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n");
  std::printf("_ropeway() {\n  local words=''\n  case \"${COMP_WORDS[1]} $3\" in\n");
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    PrintFlags(*command);
    names += " " + command->get_name();
  }
  std::printf("  esac\n  [ \"$COMP_CWORD\" -gt 1 ] || words='%s'\n", names.c_str());
  std::printf("  COMPREPLY=($(compgen -W \"$words\" -- \"$2\"))\n}\ncomplete -o default -F _ropeway ropeway\n");
  return 0;
}

}  // namespace

void AddCompletion(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("completion", "print lines that complete this command: eval \"$(ropeway completion [zsh])\"");
  auto shell = std::make_shared<std::string>("bash");
  command->add_option("shell", *shell, "bash or zsh [bash]")->type_name("bash|zsh")->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&app, shell, status] { *status = RunCompletion(app, *shell); });
}

}  // namespace ropeway::cli
