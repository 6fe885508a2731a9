// The store past the cache of aarch64. There is no intrinsic for it, hence the assembly.
#pragma once

#include <arm_neon.h>

namespace ropeway::cpu {
namespace {

inline void StreamPair(char* dst, uint8x16_t low, uint8x16_t high) {
  auto* pair = reinterpret_cast<char(*)[32]>(dst);
  asm("stnp %q1, %q2, [%3]" : "=m"(*pair) : "w"(low), "w"(high), "r"(dst));
}

// Puts such stores in front of an ordinary release store by the same thread.
inline void StreamFence() { asm volatile("dmb ishst" ::: "memory"); }

}  // namespace
}  // namespace ropeway::cpu
