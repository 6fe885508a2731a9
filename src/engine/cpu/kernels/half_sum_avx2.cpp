// The half sum for CPUs with AVX2 and F16C, compiled with -mavx2. No header but the intrinsics: see kernel_loops.h.
#include <immintrin.h>

#include "engine/cpu/kernels/half_sum.h"

namespace ropeway::cpu {

__attribute__((target("f16c"))) size_t SumHalvesF16c(void* dst, const void* src, size_t count) {
  constexpr size_t kLanes = 8;
  auto* d = static_cast<__m128i_u*>(dst);
  auto* s = static_cast<const __m128i_u*>(src);
  for (size_t i = 0; i < count / kLanes; ++i) {
    const __m256 first = _mm256_cvtph_ps(_mm_loadu_si128(d + i)), second = _mm256_cvtph_ps(_mm_loadu_si128(s + i));
    __m256 sum;
    asm("vaddps %2, %1, %0" : "=x"(sum) : "x"(first), "x"(second));  // of two NaNs the first: compilers swap an intrinsic's operands
    _mm_storeu_si128(d + i, _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
  }
  return count / kLanes * kLanes;
}

}  // namespace ropeway::cpu
