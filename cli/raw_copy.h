// The copies that Ropeway is measured against: nothing but a loop of loads and stores, so that what is left between
// them and the public API is our own cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ropeway::cli {

#if defined(__x86_64__)

// 32-byte streaming stores behind a software prefetch. Streaming spares the read of the destination line that a plain
// store of a cold line pays for. Hint and distance are those that won on an EPYC among T0 and NTA, 512 to 4096 bytes.
__attribute__((target("avx2"))) inline void StreamingCopyAvx2(void* dst, const void* src, size_t size_bytes) {
  constexpr size_t kLine = 64;
  constexpr size_t kStep = 4 * sizeof(__m256i);
  constexpr size_t kPrefetchAhead = 2048;
  auto* to = static_cast<char*>(dst);
  auto* from = static_cast<const char*>(src);
  const size_t head = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
  if (size_bytes < head + kStep) {
    std::memcpy(to, from, size_bytes);
    return;
  }
  std::memcpy(to, from, head);
  to += head;
  from += head;
  size_bytes -= head;
  for (; size_bytes >= kStep; size_bytes -= kStep, to += kStep, from += kStep) {
    _mm_prefetch(from + kPrefetchAhead, _MM_HINT_T0);
    _mm_prefetch(from + kPrefetchAhead + kLine, _MM_HINT_T0);
    const auto* in = reinterpret_cast<const __m256i*>(from);
    auto* out = reinterpret_cast<__m256i*>(to);
    const __m256i a = _mm256_loadu_si256(in);
    const __m256i b = _mm256_loadu_si256(in + 1);
    const __m256i c = _mm256_loadu_si256(in + 2);
    const __m256i d = _mm256_loadu_si256(in + 3);
    _mm256_stream_si256(out, a);
    _mm256_stream_si256(out + 1, b);
    _mm256_stream_si256(out + 2, c);
    _mm256_stream_si256(out + 3, d);
  }
  _mm_sfence();
  std::memcpy(to, from, size_bytes);
}

inline bool HasStreamingCopy() { return __builtin_cpu_supports("avx2"); }

inline void StreamingCopy(void* dst, const void* src, size_t size_bytes) {
  if (HasStreamingCopy()) {
    StreamingCopyAvx2(dst, src, size_bytes);
  } else {
    std::memcpy(dst, src, size_bytes);
  }
}

#else

// Other processors: libc's copy is the best raw copy we have.
inline bool HasStreamingCopy() { return false; }
inline void StreamingCopy(void* dst, const void* src, size_t size_bytes) { std::memcpy(dst, src, size_bytes); }

#endif

}  // namespace ropeway::cli
