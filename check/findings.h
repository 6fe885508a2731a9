// What was found: told once per rule and pair of places in the program, counted afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "check/rules.h"

namespace ropeway::check {

// One operation of a finding, in words and for programs.
struct Party {
  std::string call;      // aclrtMemcpyAsync
  std::string location;  // kv.cpp:91
  std::string where;     // stream 3 #7; empty for calls of the host
  std::vector<std::string> stack;
};

struct Finding {
  Rule rule;
  std::vector<std::string> lines;  // the first begins with the call that the rule is about
  std::vector<Party> parties;
};

class Findings {
 public:
  // By rule and the numbers of the operations: whether this one is new, and therefore to be told.
  bool Add(Rule rule, uint32_t one, uint32_t other);
  void Tell(const Finding& finding);
  uint64_t errors() const { return errors_; }
  // How often those came that came more than once.
  void TellCounts();

 private:
  bool Suppressed(const Finding& finding);
  void Write(const std::string& text);

  std::map<std::tuple<Rule, uint32_t, uint32_t>, uint64_t> counts_;
  std::vector<std::pair<std::string, std::string>> suppressions_;  // rule and a part of a location
  bool suppressions_read_ = false;
  uint64_t repeated_ = 0;
  uint64_t errors_ = 0;
};

}  // namespace ropeway::check
