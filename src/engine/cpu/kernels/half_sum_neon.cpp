// The half sum for aarch64, whose plain instruction set converts and rounds as IEEE has it. GCC makes no vector code of such conversions by
// itself.
#include <arm_neon.h>

#include "engine/cpu/kernels/half_sum.h"

namespace ropeway::cpu {
namespace {

float16x4_t SumOf(float16x4_t a, float16x4_t b) { return vcvt_f16_f32(vaddq_f32(vcvt_f32_f16(a), vcvt_f32_f16(b))); }

}  // namespace

size_t SumHalvesNeon(void* dst, const void* src, size_t count) {
  constexpr size_t kLanes = 8;
  auto* d = static_cast<uint8_t*>(dst);
  auto* s = static_cast<const uint8_t*>(src);
  for (size_t i = 0; i < count / kLanes; ++i, d += 16, s += 16) {  // by bytes, which need no alignment
    const float16x8_t a = vreinterpretq_f16_u8(vld1q_u8(d)), b = vreinterpretq_f16_u8(vld1q_u8(s));
    const float16x4_t low = SumOf(vget_low_f16(a), vget_low_f16(b)), high = SumOf(vget_high_f16(a), vget_high_f16(b));
    vst1q_u8(d, vreinterpretq_u8_f16(vcombine_f16(low, high)));
  }
  return count / kLanes * kLanes;
}

}  // namespace ropeway::cpu
