// What several processes share has a name that is the same in all of them, for those who watch: a number that nothing else has by chance.
// It opens nothing, as a key would.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace ropeway {

inline constexpr uint64_t kSharedNames = (uint64_t{1} << 44) - 1;

// Never 0.
inline uint64_t NewSharedName() {
  uint64_t name = 0;
  while ((name & kSharedNames) == 0) FillRandom(&name, sizeof(name));
  return name & kSharedNames;
}

// Of one of the many that belong to what has this name.
constexpr uint64_t SharedNameOf(uint64_t name, uint64_t number) { return ((name ^ number) * 0x9E3779B97F4A7C15ull >> 20) | 1; }

}  // namespace ropeway
