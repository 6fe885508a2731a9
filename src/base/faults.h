// The rules of ROPEWAY_FAULTS as this library of the process goes by them. Without any, a call looks at one byte.
#pragma once

#include <atomic>
#include <optional>

#include "base/fault_rules.h"

namespace ropeway {

enum class FaultState : uint8_t { kUnread, kNone, kSome };
extern constinit std::atomic<FaultState> g_fault_state;

inline FaultState CurrentFaultState() { return g_fault_state.load(std::memory_order_acquire); }
inline bool FaultsAreOn() { return CurrentFaultState() == FaultState::kSome; }

// From now on these hold; what is wrong leaves none.
void SetFaults(std::string_view rules);
// The same, unless some have been read before.
void ReadFaults(std::string_view rules);

// What a rule does to the target, of those that do it in this way.
struct Fault {
  int code;
  int64_t delay_ns;
  char rule[120];  // for messages
};
[[gnu::cold]] std::optional<Fault> FaultOf(FaultKind kind, const FaultTarget& target);

}  // namespace ropeway
