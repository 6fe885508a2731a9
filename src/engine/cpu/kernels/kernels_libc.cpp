// The kernels that need nothing but libc. memmove rather than memcpy: overlapping ranges are the user's mistake, and
// tools that watch memcpy would end the process for it.
#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels/kernels.h"

namespace ropeway::cpu {
namespace {

void Copy(void* dst, const void* src, size_t size) { std::memmove(dst, src, size); }

void StreamCopy(void* dst, const void* src, size_t size, AskAhead) { std::memmove(dst, src, size); }

void Set(void* dst, int value, size_t size) { std::memset(dst, value, size); }

void PrefetchHead(const void* src, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(src);  // by number, as in kernel_loops.h
  const size_t end = size < kPrefetchHead ? size : kPrefetchHead;
  for (size_t i = 0; i < end; i += 64) __builtin_prefetch(reinterpret_cast<const void*>(begin + i));
}

}  // namespace

constinit const KernelTable kLibcKernels = {"libc", &StreamCopy, &Copy, &Set, &PrefetchHead};

}  // namespace ropeway::cpu
