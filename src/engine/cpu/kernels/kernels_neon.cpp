// The kernels for aarch64.
#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernels/kernel_loops.h"
#include "engine/cpu/kernels/neon_pair.h"

namespace ropeway::cpu {
namespace {

struct NeonLines {
  using Pattern = uint8x16_t;

  static uint8x16_t Load(const char* src) { return vld1q_u8(reinterpret_cast<const uint8_t*>(src)); }
  static void Stream(char* dst, const char* src) {
    const uint8x16_t a = Load(src), b = Load(src + 16), c = Load(src + 32), d = Load(src + 48);
    StreamPair(dst, a, b);
    StreamPair(dst + 32, c, d);
  }
  static void Copy(char* dst, const char* src) {
    const uint8x16_t a = Load(src), b = Load(src + 16), c = Load(src + 32), d = Load(src + 48);
    auto* line = reinterpret_cast<uint8_t*>(dst);
    vst1q_u8(line, a);
    vst1q_u8(line + 16, b);
    vst1q_u8(line + 32, c);
    vst1q_u8(line + 48, d);
  }
  static Pattern Broadcast(int value) { return vdupq_n_u8(static_cast<uint8_t>(value)); }
  static void StreamPattern(char* dst, const Pattern& pattern) {
    StreamPair(dst, pattern, pattern);
    StreamPair(dst + 32, pattern, pattern);
  }
  static void Fence() { StreamFence(); }
};

}  // namespace

constinit const KernelTable kNeonKernels = MakeTable<NeonLines>("neon");

}  // namespace ropeway::cpu

#endif
