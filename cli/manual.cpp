// `ropeway help` and `ropeway manual`: both are made from what the parser knows, so that neither can tell of a flag that is not there.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/suggestion.h"
#include "cli/table.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {
namespace {

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

// "--engine NAME", "-h,--help"; a flag takes nothing.
std::string FlagOf(const CLI::Option& option) {
  const std::string name = option.get_name(false, true);
  return option.get_type_size() == 0 ? name : name + " " + option.get_type_name();
}

// --- Help -----------------------------------------------------------------------------------------------------------------

void PrintOverview(const CLI::App& app) {
  std::printf("Ropeway: %s\n\nropeway COMMAND [OPTIONS]\n\n", app.get_description().c_str());
  Table commands({{""}, {""}, {""}});
  for (const CLI::App* command : Commands(app)) commands.AddRow({"", command->get_name(), command->get_description()});
  commands.Print(stdout);
  std::printf("\nropeway help COMMAND tells a command's options, ropeway --version the version.\n\nExit status\n");
  Table codes({{""}, {"", Align::kRight}, {""}});
  for (const ExitMeaning& one : kExitMeanings) codes.AddRow({"", one.code, one.meaning});
  codes.Print(stdout);
}

int RunHelp(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    PrintOverview(app);
    return kDone;
  }
  for (const CLI::App* command : Commands(app)) {
    if (command->get_name() != topic) continue;
    std::fputs(command->help("ropeway").c_str(), stdout);
    return kDone;
  }
  std::fprintf(stderr, "ropeway help: there is no command '%s'%s\n", topic.c_str(), DidYouMean(topic, CommandNames(app)).c_str());
  return kWrongUsage;
}

// --- The manual page, in the language of man(7) ----------------------------------------------------------------------------

// A line that begins with a dot or a quote is an order to man, and a minus is a hyphen unless it is said.
std::string Roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
  }
  return !safe.empty() && (safe[0] == '.' || safe[0] == '\'') ? "\\&" + safe : safe;
}

void PrintTagged(const std::string& tag, const std::string& text) {
  std::printf(".TP\n.B %s\n%s\n", Roff(tag).c_str(), Roff(text).c_str());
}

void PrintCommand(const CLI::App& command) {
  std::printf(".SS %s\n%s.\n", Roff("ropeway " + command.get_name()).c_str(), Roff(command.get_description()).c_str());
  for (const CLI::Option* option : command.get_options())
    if (!option->get_positional() && !option->get_group().empty()) PrintTagged(FlagOf(*option), option->get_description());
}

int RunManual(const CLI::App& app) {
  std::printf(".TH ROPEWAY 1 \"\" \"Ropeway %s\"\n.SH NAME\nropeway \\- %s\n", ropewayGetVersion(), Roff(app.get_description()).c_str());
  std::printf(".SH SYNOPSIS\n.B ropeway\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\-\\- \\fIPROGRAM\\fR [\\fIARGUMENTS\\fR...]]\n.SH COMMANDS\n");
  for (const CLI::App* command : Commands(app)) PrintCommand(*command);
  std::printf(".SH EXIT STATUS\n");
  for (const ExitMeaning& one : kExitMeanings) PrintTagged(one.code, one.meaning);
  return kDone;
}

}  // namespace

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : Commands(app)) names.push_back(command->get_name());
  return names;
}

void AddHelp(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("help", "tell what the commands do, or the options of one: ropeway help [COMMAND]");
  auto topic = std::make_shared<std::string>();
  command->add_option("topic", *topic, "a command")->type_name("COMMAND");
  command->callback([&app, topic, status] { *status = RunHelp(app, *topic); });
}

void AddManual(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("manual", "print this command's manual page: ropeway manual | man -l -");
  command->callback([&app, status] { *status = RunManual(app); });
}

}  // namespace ropeway::cli
