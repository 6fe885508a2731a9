#include "check/faults.h"

#include <mutex>

#include "check/options.h"
#include "src/base/fault_rules.h"

namespace ropeway::check {
namespace {

struct Rules {
  std::mutex mutex;
  std::vector<FaultRule> faults;
};

Rules& GetRules() {
  static auto* const rules = [] {
    auto* const made = new Rules;
    made->faults = ParseFaultRules(GetOptions().faults).rules;
    return made;
  }();
  return *rules;
}

}  // namespace

int FaultOf(const char* function) {
  static const bool any = !GetRules().faults.empty();
  if (!any) return 0;
  Rules& rules = GetRules();
  const std::lock_guard lock(rules.mutex);
  const FaultRule* const rule = Strike(rules.faults, FaultKind::kAnswer, {function});
  return rule == nullptr ? 0 : rule->code;
}

}  // namespace ropeway::check
