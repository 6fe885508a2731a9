#include "check/options.h"

#include <cstdlib>
#include <sstream>

namespace ropeway::check {
namespace {

void Apply(const std::string& name, const std::string& value, Options* options) {
  if (name == "json") options->json = true;
  if (name == "stacks") options->stacks = true;
  if (name == "leaks") options->leaks = true;
  if (name == "every") options->every = true;
  if (name == "hang") options->hang_s = std::atoi(value.c_str());
  if (name == "suppress") options->suppress = value;
  if (name == "faults") options->faults = value;
  if (name == "host-access") options->host_access = value;
  if (name == "output") options->output = value;
}

Options Parse(const char* text) {
  Options options;
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    Apply(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1), &options);
  }
  return options;
}

}  // namespace

const Options& GetOptions() {
  static const auto* const options = new Options(Parse(std::getenv("ROPEWAY_CHECK")));
  return *options;
}

}  // namespace ropeway::check
