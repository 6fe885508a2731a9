#include "engine/lasting_gate.h"

#include <mutex>
#include <vector>

#include "base/no_destroy.h"

namespace ropeway {
namespace {

struct GivenBack {
  std::mutex mutex;
  std::vector<Gate*> gates;
};

GivenBack& Spare() {
  static NoDestroy<GivenBack> spare;
  return spare.get();
}

}  // namespace

LastingGate::LastingGate() {
  {
    std::lock_guard lock(Spare().mutex);
    if (!Spare().gates.empty()) {
      gate_ = Spare().gates.back();
      Spare().gates.pop_back();
      return;
    }
  }
  gate_ = new Gate;
}

LastingGate::~LastingGate() {
  gate_->Renew();
  std::lock_guard lock(Spare().mutex);
  Spare().gates.push_back(gate_);
}

}  // namespace ropeway
