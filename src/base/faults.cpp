#include "base/faults.h"

#include <cstdio>

#include "base/fork.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

// Under a lock that fork waits for: a child without devices goes on with the counts of its parent.
std::vector<FaultRule>& Rules() RW_REQUIRES(fork_lock::registries) {
  static NoDestroy<std::vector<FaultRule>> rules;  // not constinit: the vector of GCC 11 cannot be made by the compiler
  return rules.get();
}

}  // namespace

constinit std::atomic<FaultState> g_fault_state{FaultState::kUnread};

void SetFaults(std::string_view rules) {
  const LockGuard lock(fork_lock::registries);
  Rules() = ParseFaultRules(rules).rules;
  g_fault_state.store(Rules().empty() ? FaultState::kNone : FaultState::kSome, std::memory_order_release);
}

void ReadFaults(std::string_view rules) {
  const LockGuard lock(fork_lock::registries);
  if (CurrentFaultState() == FaultState::kUnread) SetFaults(rules);
}

std::optional<Fault> FaultOf(FaultKind kind, const FaultTarget& target) {
  const LockGuard lock(fork_lock::registries);
  const FaultRule* const rule = Strike(Rules(), kind, target);
  if (rule == nullptr) return std::nullopt;
  Fault fault{rule->code, rule->delay_ns, {}};
  snprintf(fault.rule, sizeof(fault.rule), "%s", rule->text.c_str());
  return fault;
}

}  // namespace ropeway
