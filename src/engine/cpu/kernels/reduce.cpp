// The reduction loops: base/reduce_ops.h says how each type computes, one template makes the loop, one table picks it.
#include "engine/cpu/kernels/reduce.h"

#include <cstring>
#include <iterator>

#include "base/reduce_ops.h"
#include "engine/cpu/kernels/half_sum.h"

// The sanitizers do not see intrinsics: see Kernels() for the same rule.
#if defined(__x86_64__) && !defined(ROPEWAY_ASAN) && !defined(ROPEWAY_TSAN)
#include <cpuid.h>
#define RW_REDUCE_F16C 1
#else
#define RW_REDUCE_F16C 0
#endif
#if defined(__aarch64__) && !defined(ROPEWAY_ASAN) && !defined(ROPEWAY_TSAN)
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

namespace ropeway::cpu {
namespace {

// Through memcpy, because neither the alignment nor the declared type of the user's arrays is known.
template <class T, T (*kOp)(T, T)>
inline void ReduceElement(char* dst, const char* src) {
  T a, b;
  std::memcpy(&a, dst, sizeof a);
  std::memcpy(&b, src, sizeof b);
  a = kOp(a, b);
  std::memcpy(dst, &a, sizeof a);
}

template <class T, T (*kOp)(T, T)>
void ReduceArray(void* dst, const void* src, size_t count) {
  auto* d = static_cast<char*>(dst);
  auto* s = static_cast<const char*>(src);
  // Blocks of a fixed length, because GCC at -O2 makes vector code only of loops that need no scalar remainder.
  constexpr size_t kBlock = 64;
  for (; count >= kBlock; count -= kBlock, d += kBlock * sizeof(T), s += kBlock * sizeof(T)) {
    RW_INDEPENDENT_LOOP
    for (size_t i = 0; i < kBlock; ++i) ReduceElement<T, kOp>(d + i * sizeof(T), s + i * sizeof(T));
  }
  for (size_t i = 0; i < count; ++i) ReduceElement<T, kOp>(d + i * sizeof(T), s + i * sizeof(T));
}

#if RW_REDUCE_F16C
// Asks cpuid, because clang's __builtin_cpu_supports lacks this name. AVX2 vouches for the operating system's part.
bool HasF16c() {
  unsigned eax, ebx, ecx, edx;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) != 0;
}
#endif

// The one sum that is bound by its arithmetic and not by memory.
void SumHalves(void* dst, const void* src, size_t count) {
  size_t done = 0;
#if RW_REDUCE_F16C
  static const bool has_f16c = HasF16c();
  if (has_f16c) done = SumHalvesF16c(dst, src, count);
#elif RW_REDUCE_NEON
  done = SumHalvesNeon(dst, src, count);
#endif
  auto* d = static_cast<char*>(dst) + done * sizeof(uint16_t);
  auto* s = static_cast<const char*>(src) + done * sizeof(uint16_t);
  ReduceArray<uint16_t, &FloatingOps<Float16Format>::Sum>(d, s, count - done);
}

struct Row {
  size_t element_size;
  void (*reduce[4])(void* dst, const void* src, size_t count);  // by ReduceOp
};

template <class Ops>
constexpr Row MakeRow() {
  using T = typename Ops::Bits;
  return {sizeof(T), {&ReduceArray<T, &Ops::Sum>, &ReduceArray<T, &Ops::Max>, &ReduceArray<T, &Ops::Min>, &ReduceArray<T, &Ops::Equal>}};
}

constexpr Row MakeHalfRow() {
  Row row = MakeRow<FloatingOps<Float16Format>>();
  row.reduce[static_cast<size_t>(ReduceOp::kSum)] = &SumHalves;
  return row;
}

// By ReduceType, without kInt4 at the end.
constexpr Row kRows[] = {
    MakeRow<FloatingOps<Float32Format>>(),  MakeHalfRow(),
    MakeRow<FloatingOps<BFloat16Format>>(), MakeRow<IntegerOps<int8_t>>(),
    MakeRow<IntegerOps<int16_t>>(),         MakeRow<IntegerOps<int32_t>>(),
    MakeRow<IntegerOps<uint8_t>>(),         MakeRow<IntegerOps<uint16_t>>(),
    MakeRow<IntegerOps<uint32_t>>(),
};
static_assert(std::size(kRows) == static_cast<size_t>(ReduceType::kInt4));

}  // namespace

bool CanReduce(ReduceOp op, ReduceType type) { return op <= ReduceOp::kEqual && static_cast<size_t>(type) < std::size(kRows); }

void Reduce(void* dst, const void* src, size_t bytes, ReduceOp op, ReduceType type) {
  if (!CanReduce(op, type)) return;
  const Row& row = kRows[static_cast<size_t>(type)];
  row.reduce[static_cast<size_t>(op)](dst, src, bytes / row.element_size);
}

}  // namespace ropeway::cpu
