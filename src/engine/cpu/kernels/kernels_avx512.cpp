// The AVX-512 kernels, compiled with -mavx512f -mavx512bw -mavx512vl: see kernel_loops.h for what that forbids.
#include <immintrin.h>

#include <cstddef>

#include "engine/cpu/kernels/kernel_loops.h"

namespace ropeway::cpu {
namespace {

struct Avx512Lines {
  using Pattern = __m512i;

  static void Stream(char* dst, const char* src) { _mm512_stream_si512(reinterpret_cast<__m512i*>(dst), _mm512_loadu_si512(src)); }
  static void Copy(char* dst, const char* src) { _mm512_storeu_si512(dst, _mm512_loadu_si512(src)); }
  static Pattern Broadcast(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  static void StreamPattern(char* dst, const Pattern& pattern) { _mm512_stream_si512(reinterpret_cast<__m512i*>(dst), pattern); }
  static void Fence() { _mm_sfence(); }
};

}  // namespace

constinit const KernelTable kAvx512Kernels = MakeTable<Avx512Lines>("avx512");

}  // namespace ropeway::cpu
