// One loop for all: base/reduce_ops.h says how each type computes, and each loop is compiled for every instruction set that it is worth it
// for.
#include "hccl/base/reduce_kernel.h"

#include <cstring>
#include <iterator>

#include "base/reduce_ops.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define RW_REDUCE_AVX2 1
#else  // what else is built for has its vectors in the plain instruction set
#define RW_REDUCE_AVX2 0
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#define RW_REDUCE_NEON 1
#else
#define RW_REDUCE_NEON 0
#endif

// Tells GCC that the iterations of the next loop do not depend on each other through memory; clang finds out by itself.
#if defined(__clang__)
#define RW_INDEPENDENT_LOOP
#else
#define RW_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace ropeway::comm {
namespace {

// Through memcpy, because neither the alignment nor the declared type of the user's arrays is known.
template <class T, T (*kOp)(T, T)>
[[gnu::always_inline]] inline void ReduceElement(char* to, const char* a, const char* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  x = kOp(x, y);
  std::memcpy(to, &x, sizeof x);
}

template <class T, T (*kOp)(T, T)>
[[gnu::always_inline]] inline void ReduceLoop(void* to, const void* a, const void* b, uint64_t count) {
  auto* t = static_cast<char*>(to);
  auto* x = static_cast<const char*>(a);
  auto* y = static_cast<const char*>(b);
  // Blocks of a fixed length, because GCC at -O2 makes vector code only of loops that need no scalar remainder.
  constexpr size_t kBlock = 64, kBytes = kBlock * sizeof(T);
  for (; count >= kBlock; count -= kBlock, t += kBytes, x += kBytes, y += kBytes) {
    RW_INDEPENDENT_LOOP
    for (size_t i = 0; i < kBlock; ++i) ReduceElement<T, kOp>(t + i * sizeof(T), x + i * sizeof(T), y + i * sizeof(T));
  }
  for (size_t i = 0; i < count; ++i) ReduceElement<T, kOp>(t + i * sizeof(T), x + i * sizeof(T), y + i * sizeof(T));
}

template <class T, T (*kOp)(T, T)>
void ReducePlain(void* to, const void* a, const void* b, uint64_t count) {
  ReduceLoop<T, kOp>(to, a, b, count);
}

#if RW_REDUCE_AVX2
template <class T, T (*kOp)(T, T)>
[[gnu::target("avx2"), gnu::flatten]] void ReduceAvx2(void* to, const void* a, const void* b, uint64_t count) {
  ReduceLoop<T, kOp>(to, a, b, count);
}

// The portable conversions are what a sum or product of halves spends its time with; the CPU's own round alike.
template <bool kProduct>
[[gnu::target("avx2,f16c")]] void ReduceHalves(void* to, const void* a, const void* b, uint64_t count) {
  constexpr uint64_t kLanes = 8;
  auto* t = static_cast<__m128i_u*>(to);
  auto* x = static_cast<const __m128i_u*>(a);
  auto* y = static_cast<const __m128i_u*>(b);
  const uint64_t done = count / kLanes * kLanes;
  for (uint64_t i = 0; i < count / kLanes; ++i) {
    const __m256 left = _mm256_cvtph_ps(_mm_loadu_si128(x + i)), right = _mm256_cvtph_ps(_mm_loadu_si128(y + i));
    __m256 value;  // of two NaNs the first: compilers swap an intrinsic's operands
    if constexpr (kProduct)
      asm("vmulps %2, %1, %0" : "=x"(value) : "x"(left), "x"(right));
    else
      asm("vaddps %2, %1, %0" : "=x"(value) : "x"(left), "x"(right));
    _mm_storeu_si128(t + i, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
  constexpr auto kOp = kProduct ? &FloatingOps<Float16Format>::Product : &FloatingOps<Float16Format>::Sum;
  ReducePlain<uint16_t, kOp>(static_cast<uint16_t*>(to) + done, static_cast<const uint16_t*>(a) + done,
                             static_cast<const uint16_t*>(b) + done, count - done);
}

bool HasAvx2AndF16c() {
  unsigned eax, ebx, ecx, edx;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) != 0;
}
#endif

#if RW_REDUCE_NEON
// As above, with conversions that every such CPU has, and of which GCC makes no vector code by itself.
template <bool kProduct>
float16x4_t ReduceFour(float16x4_t a, float16x4_t b) {
  const float32x4_t left = vcvt_f32_f16(a), right = vcvt_f32_f16(b);
  return vcvt_f16_f32(kProduct ? vmulq_f32(left, right) : vaddq_f32(left, right));
}

template <bool kProduct>
void ReduceHalves(void* to, const void* a, const void* b, uint64_t count) {
  constexpr uint64_t kLanes = 8;
  auto* t = static_cast<uint8_t*>(to);  // by bytes, which need no alignment
  auto* x = static_cast<const uint8_t*>(a);
  auto* y = static_cast<const uint8_t*>(b);
  for (; count >= kLanes; count -= kLanes, t += 16, x += 16, y += 16) {
    const float16x8_t left = vreinterpretq_f16_u8(vld1q_u8(x)), right = vreinterpretq_f16_u8(vld1q_u8(y));
    const float16x4_t low = ReduceFour<kProduct>(vget_low_f16(left), vget_low_f16(right));
    const float16x4_t high = ReduceFour<kProduct>(vget_high_f16(left), vget_high_f16(right));
    vst1q_u8(t, vreinterpretq_u8_f16(vcombine_f16(low, high)));
  }
  constexpr auto kOp = kProduct ? &FloatingOps<Float16Format>::Product : &FloatingOps<Float16Format>::Sum;
  ReducePlain<uint16_t, kOp>(t, x, y, count);
}
#endif

// By HcclReduceOp: sum, product, max, min.
struct Row {
  uint8_t element_bytes;
  ReduceKernel plain[4];
  ReduceKernel best[4];
};

template <class Ops>
constexpr Row MakeRow() {
  using T = typename Ops::Bits;
  Row row{sizeof(T),
          {&ReducePlain<T, &Ops::Sum>, &ReducePlain<T, &Ops::Product>, &ReducePlain<T, &Ops::Max>, &ReducePlain<T, &Ops::Min>},
          {&ReducePlain<T, &Ops::Sum>, &ReducePlain<T, &Ops::Product>, &ReducePlain<T, &Ops::Max>, &ReducePlain<T, &Ops::Min>}};
#if RW_REDUCE_AVX2
  row.best[0] = &ReduceAvx2<T, &Ops::Sum>;
  row.best[1] = &ReduceAvx2<T, &Ops::Product>;
  row.best[2] = &ReduceAvx2<T, &Ops::Max>;
  row.best[3] = &ReduceAvx2<T, &Ops::Min>;
#endif
  return row;
}

constexpr Row MakeHalfRow() {
  Row row = MakeRow<FloatingOps<Float16Format>>();
#if RW_REDUCE_AVX2 || RW_REDUCE_NEON
  row.best[0] = &ReduceHalves<false>;
  row.best[1] = &ReduceHalves<true>;
#endif
  return row;
}

// By HcclDataType. What is moved and not reduced has its size alone.
constexpr Row kRows[] = {
    MakeRow<IntegerOps<int8_t>>(),           // INT8
    MakeRow<IntegerOps<int16_t>>(),          // INT16
    MakeRow<IntegerOps<int32_t>>(),          // INT32
    MakeHalfRow(),                           // FP16
    MakeRow<FloatingOps<Float32Format>>(),   // FP32
    MakeRow<IntegerOps<int64_t>>(),          // INT64
    MakeRow<IntegerOps<uint64_t>>(),         // UINT64
    MakeRow<IntegerOps<uint8_t>>(),          // UINT8
    MakeRow<IntegerOps<uint16_t>>(),         // UINT16
    MakeRow<IntegerOps<uint32_t>>(),         // UINT32
    MakeRow<FloatingOps<Float64Format>>(),   // FP64
    MakeRow<FloatingOps<BFloat16Format>>(),  // BFP16
    MakeRow<IntegerOps<Int128>>(),           // INT128
    {},
    {1, {}, {}},  // HIF8
    {1, {}, {}},  // FP8E4M3
    {1, {}, {}},  // FP8E5M2
    {1, {}, {}},  // FP8E8M0
};

const Row* RowOf(HcclDataType type) {
  const auto index = static_cast<uint32_t>(type);
  return index < std::size(kRows) ? &kRows[index] : nullptr;
}

}  // namespace

ReduceKernel FindPlainReduceKernel(HcclDataType type, HcclReduceOp op) {
  const Row* const row = RowOf(type);
  return row != nullptr && static_cast<uint32_t>(op) < std::size(row->plain) ? row->plain[op] : nullptr;
}

ReduceKernel FindReduceKernel(HcclDataType type, HcclReduceOp op) {
#if RW_REDUCE_AVX2 || RW_REDUCE_NEON
#if RW_REDUCE_AVX2
  static const bool best = HasAvx2AndF16c();
#else
  constexpr bool best = true;
#endif
  const Row* const row = RowOf(type);
  if (best && row != nullptr && static_cast<uint32_t>(op) < std::size(row->best)) return row->best[op];
#endif
  return FindPlainReduceKernel(type, op);
}

uint64_t ElementBytes(HcclDataType type) {
  const Row* const row = RowOf(type);
  return row == nullptr ? 0 : row->element_bytes;
}

}  // namespace ropeway::comm
