// The kernels that every x86-64 CPU can run.
#if defined(__x86_64__)

#include <emmintrin.h>

#include <cstddef>

#include "engine/cpu/kernels/kernel_loops.h"

namespace ropeway::cpu {
namespace {

struct Sse2Lines {
  using Pattern = __m128i;

  static __m128i Load(const char* src) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(src)); }
  static void Stream(char* dst, const char* src) {
    const __m128i a = Load(src), b = Load(src + 16), c = Load(src + 32), d = Load(src + 48);
    auto* line = reinterpret_cast<__m128i*>(dst);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  static void Copy(char* dst, const char* src) {
    const __m128i a = Load(src), b = Load(src + 16), c = Load(src + 32), d = Load(src + 48);
    auto* line = reinterpret_cast<__m128i*>(dst);
    _mm_storeu_si128(line, a);
    _mm_storeu_si128(line + 1, b);
    _mm_storeu_si128(line + 2, c);
    _mm_storeu_si128(line + 3, d);
  }
  static Pattern Broadcast(int value) { return _mm_set1_epi8(static_cast<char>(value)); }
  static void StreamPattern(char* dst, const Pattern& pattern) {
    auto* line = reinterpret_cast<__m128i*>(dst);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(line + i, pattern);
  }
  static void Fence() { _mm_sfence(); }
};

}  // namespace

constinit const KernelTable kSse2Kernels = MakeTable<Sse2Lines>("sse2");

}  // namespace ropeway::cpu

#endif
