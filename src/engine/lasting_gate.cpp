#include "engine/lasting_gate.h"

#include <iterator>

#include "base/mutex.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

struct GivenBack {
  Mutex mutex{LockRank::kSpareGates};
  std::list<Gate> gates RW_GUARDED_BY(mutex);
};

GivenBack& Spare() {
  static NoDestroy<GivenBack> spare;
  return spare.get();
}

}  // namespace

LastingGate::LastingGate() {
  {
    LockGuard lock(Spare().mutex);
    auto& spare = Spare().gates;
    if (!spare.empty()) gate_.splice(gate_.end(), spare, std::prev(spare.end()));
  }
  if (gate_.empty()) gate_.emplace_back();
}

LastingGate::~LastingGate() {
  get()->Renew();
  LockGuard lock(Spare().mutex);
  Spare().gates.splice(Spare().gates.end(), gate_);
}

}  // namespace ropeway
