#include "check/faults.h"

#include <mutex>

#include "check/options.h"
#include "src/base/fault_rules.h"

namespace ropeway::check {
namespace {

struct State {
  std::mutex mutex;
  std::vector<FaultRule> faults;
};

State& GetState() {
  static auto* const state = [] {
    auto* const made = new State;
    made->faults = ParseFaultRules(GetOptions().faults).rules;
    return made;
  }();
  return *state;
}

}  // namespace

int FaultOf(const char* function) {
  static const bool any = !GetState().faults.empty();
  if (!any) return 0;
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  const FaultRule* const rule = Strike(state.faults, FaultKind::kAnswer, {function});
  return rule == nullptr ? 0 : rule->code;
}

}  // namespace ropeway::check
