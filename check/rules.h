// What can be found. The names are stable: suppression files and reports have them.
#pragma once

namespace ropeway::check {

enum class Rule {
#define RULE(name, id, word, fails, title, fix) name,
#include "check/rules.inc"
#undef RULE
};

struct RuleText {
  const char* id;
  const char* word;
  bool fails;  // a tip never fails a run
  const char* title;
  const char* fix;
};

constexpr RuleText kRules[] = {
#define RULE(name, id, word, fails, title, fix) {id, word, fails, title, fix},
#include "check/rules.inc"
#undef RULE
};

constexpr const RuleText& TextOf(Rule rule) { return kRules[static_cast<int>(rule)]; }

}  // namespace ropeway::check
