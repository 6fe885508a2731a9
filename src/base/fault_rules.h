// What shall go wrong, by one string of rules: FUNCTION:FAULT[:SELECTOR...], with semicolons between rules (docs/faults.md).
//
// The checking layer, the runtime, HCCL and the command read rules here and nowhere else. This is the text and the count; who is struck,
// and how, is theirs. The layer and the command are compiled with this file alone, so it needs nothing of ours but parse.h.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ropeway {

enum class FaultKind : uint8_t {
  kAnswer,  // CODE: the call answers it and is not made
  kFail,    // fail=CODE: what the call queued fails when its turn comes
  kDelay,   // delay=TIME: what the call queued, and all behind it, begins so much later
  kMemory,  // memory: there is none left for what the call asks for
  kLost,    // lost[=CODE]: from this call on its device is gone
  kCut,     // cut: the link between two ranks breaks
};

struct FaultRule {
  std::string text;
  std::string function;  // a * at its end stands for any rest
  FaultKind kind = FaultKind::kAnswer;
  int code = 0;
  int64_t delay_ns = 0;
  // Which of those that it meets it strikes.
  uint64_t after = 0;
  uint64_t every = 1;
  uint64_t times = UINT64_MAX;
  double chance = 1;
  // Whom it meets; -1: any.
  int64_t device = -1;
  int64_t peer = -1;
  uint64_t least = 0;
  uint64_t most = UINT64_MAX;

  uint64_t met = 0;
  uint64_t struck = 0;
  std::mt19937_64 dice{1};
};

struct FaultRules {
  std::vector<FaultRule> rules;
  std::string wrong;  // which rule, at which place, and what is wanted there; empty: nothing
};
FaultRules ParseFaultRules(std::string_view text);

// What rules are asked about; -1 where it has none.
struct FaultTarget {
  std::string_view function;
  int64_t device = -1;
  uint64_t size = 0;
  int64_t peer = -1;
};
// The first rule of this kind that strikes; null for none. All that meet the target count it.
const FaultRule* Strike(std::vector<FaultRule>& rules, FaultKind kind, const FaultTarget& target);

}  // namespace ropeway
