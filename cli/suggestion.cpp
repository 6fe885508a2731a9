#include "cli/suggestion.h"

#include <algorithm>

namespace ropeway::cli {
namespace {

// Letters to add, drop, replace, or swap with their neighbour.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> far(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        far[i][j] = i + j;
        continue;
      }
      far[i][j] = std::min({far[i - 1][j] + 1, far[i][j - 1] + 1, far[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) far[i][j] = std::min(far[i][j], far[i - 2][j - 2] + 1);
    }
  }
  return far[a.size()][b.size()];
}

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

// The command that the line names; null when it names none.
const CLI::App* Named(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == word) return command;
  return nullptr;
}

// What the parser left over: the first flag, since a word may be the value of one that it does not know.
std::string Unexpected(const CLI::App& command) {
  const std::vector<std::string> left = command.remaining(true);
  const auto flag = std::find_if(left.begin(), left.end(), [](const std::string& word) { return word.rfind("-", 0) == 0; });
  return flag != left.end() ? *flag : left.empty() ? "" : left.front();
}

std::string OrElse(const std::string& text, const std::string& other) { return text.empty() ? other : text; }

}  // namespace

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const auto nearer = [&](const std::string& a, const std::string& b) { return Distance(word, a) < Distance(word, b); };
  const auto nearest = std::min_element(known.begin(), known.end(), nearer);
  if (nearest == known.end() || Distance(word, *nearest) > 1 + nearest->size() / 4) return "";
  return "; did you mean '" + *nearest + "'?";
}

std::string ExplainMistake(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  const CLI::App* command = Named(app, word);
  if (word.empty()) return "ropeway: a command is wanted; ropeway help tells them";
  if (command == nullptr && word[0] != '-')
    return "ropeway: there is no command '" + word + "'" + OrElse(DidYouMean(word, CommandNames(app)), "; ropeway help tells them");
  const std::string name = command == nullptr ? "ropeway" : "ropeway " + word;
  const std::string advice = "; ropeway help" + (command == nullptr ? "" : " " + word) + " tells the options";
  const std::string left = command == nullptr ? word : Unexpected(app);
  // What is missing may be what somebody tried to say by a flag that is not there.
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && left.rfind("-", 0) == 0);
  if (command != nullptr && !is_extra) return name + ": " + error.what() + advice;
  const std::vector<std::string> flags = FlagsOf(command == nullptr ? app : *command);
  return name + ": '" + left + "' is not expected" + OrElse(DidYouMean(left.substr(0, left.find('=')), flags), advice);
}

}  // namespace ropeway::cli
