// Asks for a cache line that is about to be written, so that other cores give it up while there is still something else to do.
#pragma once

namespace ropeway {

inline void PrefetchForWrite(const void* address) {
#if defined(__x86_64__)
  // The built-in one asks for a line to read unless the compiler is told of a newer CPU; older ones take this for a no-op.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace ropeway
