#include "check/faults.h"

#include <mutex>

#include "check/fault_rules.h"
#include "check/options.h"

namespace ropeway::check {
namespace {

struct State {
  std::mutex mutex;
  std::vector<Fault> faults;
};

State& GetState() {
  static auto* const state = [] {
    auto* const made = new State;
    if (!ParseFaults(GetOptions().faults, &made->faults).empty()) made->faults.clear();
    return made;
  }();
  return *state;
}

bool Strikes(Fault* fault) {
  if (fault->after > 0) return --fault->after, false;
  if (fault->times == 0) return false;
  if (fault->chance < 1 && std::uniform_real_distribution<>(0, 1)(fault->dice) >= fault->chance) return false;
  --fault->times;
  return true;
}

}  // namespace

int FaultOf(const char* function) {
  static const bool any = !GetState().faults.empty();
  if (!any) return 0;
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  for (Fault& fault : state.faults)
    if (fault.function == function && Strikes(&fault)) return fault.code;
  return 0;
}

}  // namespace ropeway::check
