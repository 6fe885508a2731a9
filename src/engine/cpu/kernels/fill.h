// Fills memory with a 32-bit pattern.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway::cpu {

// Writes `count` copies of `value` from `dst` on, which needs no alignment. Large fills go past the cache, and end with
// the fence that this takes.
void FillWords(void* dst, uint32_t value, size_t count);

}  // namespace ropeway::cpu
