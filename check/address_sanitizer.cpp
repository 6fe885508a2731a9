#include "check/address_sanitizer.h"

#include <sys/mman.h>
#include <unistd.h>

extern "C" {
__attribute__((weak)) void* __asan_region_is_poisoned(void* begin, size_t size);
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* begin, size_t size);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* begin, size_t size);
}

namespace ropeway::check {

bool HasAddressSanitizer() { return __asan_region_is_poisoned != nullptr && __asan_poison_memory_region != nullptr; }

uintptr_t FirstMarked(const Range& range) {
  if (!HasAddressSanitizer() || range.empty()) return 0;
  return reinterpret_cast<uintptr_t>(__asan_region_is_poisoned(reinterpret_cast<void*>(range.begin), range.end - range.begin));
}

void MarkFreed(const Range& range) {
  if (HasAddressSanitizer() && !range.empty()) __asan_poison_memory_region(reinterpret_cast<void*>(range.begin), range.end - range.begin);
}

bool IsMapped(const Range& range) {
  if (!HasAddressSanitizer() || range.empty()) return true;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = range.begin / page * page;
  return msync(reinterpret_cast<void*>(first), range.end - first, MS_ASYNC) == 0;
}

void MarkUsed(const Range& range) {
  if (HasAddressSanitizer()) __asan_unpoison_memory_region(reinterpret_cast<void*>(range.begin), range.end - range.begin);
}

}  // namespace ropeway::check
