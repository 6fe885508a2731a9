// The AVX2 kernels, compiled with -mavx2: see kernel_loops.h for what that forbids.
#include <immintrin.h>

#include <cstddef>

#include "engine/cpu/kernels/kernel_loops.h"

namespace ropeway::cpu {
namespace {

struct Avx2Lines {
  using Pattern = __m256i;

  static __m256i Load(const char* src) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src)); }
  static void Stream(char* dst, const char* src) {
    const __m256i low = Load(src);
    const __m256i high = Load(src + 32);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 32), high);
  }
  static void Copy(char* dst, const char* src) {
    const __m256i low = Load(src);
    const __m256i high = Load(src + 32);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + 32), high);
  }
  static Pattern Broadcast(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
  static void StreamPattern(char* dst, const Pattern& pattern) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), pattern);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 32), pattern);
  }
  static void Fence() { _mm_sfence(); }
};

}  // namespace

constinit const KernelTable kAvx2Kernels = MakeTable<Avx2Lines>("avx2");

}  // namespace ropeway::cpu
