// Looks at hosts that wait for a stream, and says which wait of it cannot end, when that has lasted for the set time.
#pragma once

#include "check/model/clock.h"

namespace ropeway::check {

// All under the lock of the books.
class HangWatch {
 public:
  static void Begin(const Place& place, uint32_t operation);
  static void End(const Place& place);
};

}  // namespace ropeway::check
