// Looks at hosts that wait for streams, and says which wait of them cannot end, when that has lasted for the set time.
#pragma once

#include <vector>

#include "check/model/clock.h"

namespace ropeway::check {

// All under the lock of the books.
class HangWatch {
 public:
  // The number of a host that waits up to these places; 0 when what they have is on its way.
  static uint64_t Begin(const std::vector<Place>& places, uint32_t operation);
  static void End(uint64_t ticket);
};

}  // namespace ropeway::check
