// The string instruction of x86: the CPU chooses how it stores, and may spare the read of the destination as stores around the cache do.
#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"

namespace ropeway::cpu {
namespace {

// It crawls (2 GB/s on Zen 4) where the destination begins up to a line behind the source, counted within a page.
bool Crawls(const void* dst, const void* src) {
  const uintptr_t distance = (reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src)) & 4095;
  return distance != 0 && distance < 64;
}

void Copy(void* dst, const void* src, size_t size) {
  if (Crawls(dst, src)) return kSse2Kernels.cached_copy(dst, src, size);
  asm volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(size)::"memory");
}

void StreamCopy(void* dst, const void* src, size_t size, AskAhead) { Copy(dst, src, size); }

void Set(void* dst, int value, size_t size) { asm volatile("rep stosb" : "+D"(dst), "+c"(size) : "a"(value) : "memory"); }

void PrefetchHead(const void* src, size_t size) { kSse2Kernels.prefetch(src, size); }

}  // namespace

constinit const KernelTable kRepMovsbKernels = {"rep_movsb", &StreamCopy, &Copy, &Set, &PrefetchHead};

}  // namespace ropeway::cpu

#endif
