// The functions that move and set bytes for the CPU engine, one table per instruction set. Pure functions: no state,
// any thread. The vector files include this header, so it must not pull in anything that brings inline functions along.
#pragma once

#include <cstddef>

namespace ropeway::cpu {

// How a streaming copy asks for its source before its turn: so many bytes ahead of it (0: it does not), as long as it copies the first
// `span` bytes. Behind these some CPUs look ahead by themselves, and are held up by whoever asks as well.
struct AskAhead {
  size_t distance;
  size_t span;
};

// One way to move bytes. All functions are exact at any alignment and any size from 0. When the ranges overlap, what
// ends up in dst is unspecified, but nothing outside dst is written and nothing outside src is read.
struct KernelTable {
  const char* name;  // "avx512", "avx2", "sse2", "rep_movsb", "neon", "libc"

  // Non-temporal stores: leaves the destination out of the cache. The fence is included, so an ordinary release store
  // by the same thread publishes the bytes. Wins for cold data and from about 256 KiB on. The source is never asked for beyond its end.
  void (*stream_copy)(void* dst, const void* src, size_t size, AskAhead ahead);

  // Through the cache, and without the cases in which libc's memcpy falls to a fraction of its speed.
  void (*cached_copy)(void* dst, const void* src, size_t size);

  // Non-temporal memset with the fence included.
  void (*stream_set)(void* dst, int value, size_t size);

  // Asks for the first bytes of a block that will be copied next. Reads at most kPrefetchHead bytes, whatever the size.
  void (*prefetch)(const void* src, size_t size);
};

// What prefetch() covers at most. Measured on scattered blocks of 4 KiB: 256 to 512 bytes lift a streaming copy from
// 1.1 to 1.4 times libc's speed, for by then the hardware has seen the new block; from 2 KiB on the gain is unsure.
inline constexpr size_t kPrefetchHead = 512;

// What an engine moves bytes with: which tables, from which size on, and how far ahead, is for copy_profile.h to say.
struct CopyKernels {
  const KernelTable* stream;
  const KernelTable* cached;
  const KernelTable* cached_long;
  size_t long_from;
  AskAhead ahead;

  void Stream(void* dst, const void* src, size_t size) const { stream->stream_copy(dst, src, size, ahead); }
  void Cached(void* dst, const void* src, size_t size) const { (size < long_from ? cached : cached_long)->cached_copy(dst, src, size); }
  void StreamSet(void* dst, int value, size_t size) const { stream->stream_set(dst, value, size); }
  void Prefetch(const void* src, size_t size) const { stream->prefetch(src, size); }
};

// A table by its name, or nullptr when this CPU cannot run it.
const KernelTable* FindKernels(const char* name);
// The `index`-th of those that it can run, nullptr behind the last. The first is the one to take where nothing else is known.
const KernelTable* KernelsAt(size_t index);

// The tables that a build may contain; which of them may be called is for kernels.cpp to say.
extern const KernelTable kLibcKernels;
#if defined(__x86_64__)
extern const KernelTable kSse2Kernels;
extern const KernelTable kRepMovsbKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
#elif defined(__aarch64__)
extern const KernelTable kNeonKernels;
#endif

}  // namespace ropeway::cpu
