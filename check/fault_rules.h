// Calls that answer a code instead of being made, to see what a program does then: FUNCTION:CODE, and behind it, each with a colon in
// front,
//   after=N   not the first N calls (0)         times=N   at most so often (no limit)
//   chance=P  with this probability (1)         seed=S    of the dice (1)
// Several are separated by semicolons. The command reads the same rules to refuse wrong ones.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace ropeway::check {

struct Fault {
  std::string function;
  int code = 0;
  uint64_t after = 0;
  uint64_t times = UINT64_MAX;
  double chance = 1;
  std::mt19937_64 dice{1};
};

inline bool ApplyTo(const std::string& name, const std::string& value, Fault* fault) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || number < 0) return false;
  if (name == "after") return fault->after = static_cast<uint64_t>(number), true;
  if (name == "times") return fault->times = static_cast<uint64_t>(number), true;
  if (name == "chance") return fault->chance = number, number <= 1;
  if (name == "seed") return fault->dice.seed(static_cast<uint64_t>(number)), true;
  return false;
}

inline bool ParseFault(const std::string& rule, Fault* fault) {
  std::istringstream words(rule);
  std::string code, word;
  if (!std::getline(words, fault->function, ':') || !std::getline(words, code, ':')) return false;
  fault->code = std::atoi(code.c_str());
  if (fault->function.empty() || fault->code == 0) return false;
  while (std::getline(words, word, ':')) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || !ApplyTo(word.substr(0, equals), word.substr(equals + 1), fault)) return false;
  }
  return true;
}

// What is wrong with them; empty when nothing is.
inline std::string ParseFaults(const std::string& rules, std::vector<Fault>* faults) {
  std::istringstream words(rules);
  for (std::string rule; std::getline(words, rule, ';');) {
    faults->emplace_back();
    if (!ParseFault(rule, &faults->back())) return "'" + rule + "' is not FUNCTION:CODE[:after=N][:times=N][:chance=P][:seed=S]";
  }
  return "";
}

}  // namespace ropeway::check
