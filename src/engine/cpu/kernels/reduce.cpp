// The reduction loops: each type says how it computes, one template makes the loop, one table picks it. Floating point
// maxima, minima and comparisons work on the bits, which is the same code for the three formats, and exact.
#include "engine/cpu/kernels/reduce.h"

#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/half.h"
#include "engine/cpu/kernels/half_sum.h"

// The sanitizers do not see intrinsics: see Kernels() for the same rule.
#if defined(__x86_64__) && !defined(ROPEWAY_ASAN) && !defined(ROPEWAY_TSAN)
#include <cpuid.h>
#define RW_REDUCE_F16C 1
#else
#define RW_REDUCE_F16C 0
#endif

// Tells GCC that the iterations of the next loop do not depend on each other through memory; clang finds out by itself.
#if defined(__clang__)
#define RW_INDEPENDENT_LOOP
#else
#define RW_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace ropeway::cpu {
namespace {

template <class T>
struct IntegerOps {
  using Bits = T;
  static Bits Sum(Bits a, Bits b) {
    using Unsigned = std::make_unsigned_t<T>;  // wraps where a signed sum would be undefined
    return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  }
  static Bits Max(Bits a, Bits b) { return a > b ? a : b; }
  static Bits Min(Bits a, Bits b) { return a < b ? a : b; }
  static Bits Equal(Bits a, Bits b) { return a == b ? 1 : 0; }
};

// Format gives Bits (unsigned), Add, and the bit patterns kInfinity, kQuiet and kOne.
template <class Format>
struct FloatingOps {
  using Bits = typename Format::Bits;
  using Signed = std::make_signed_t<Bits>;
  static constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;

  static bool IsNan(Bits a) { return (a & kMagnitude) > Format::kInfinity; }
  // A number that grows with the value, -0 just below +0.
  static Signed Rank(Bits a) {
    const Signed negative = static_cast<Signed>(a) >> (sizeof(Bits) * 8 - 1);
    return static_cast<Signed>(static_cast<Signed>(a) ^ (negative & static_cast<Signed>(kMagnitude)));
  }
  static Bits OrNan(Bits a, Bits b, Bits otherwise) {
    const Bits with_b = IsNan(b) ? static_cast<Bits>(b | Format::kQuiet) : otherwise;
    return IsNan(a) ? static_cast<Bits>(a | Format::kQuiet) : with_b;
  }
  static Bits Sum(Bits a, Bits b) { return Format::Add(a, b); }
  static Bits Max(Bits a, Bits b) { return OrNan(a, b, Rank(a) > Rank(b) ? a : b); }
  static Bits Min(Bits a, Bits b) { return OrNan(a, b, Rank(a) < Rank(b) ? a : b); }
  static Bits Equal(Bits a, Bits b) {
    const bool both_zero = static_cast<Bits>((a | b) & kMagnitude) == 0;
    return (both_zero | ((a == b) & !IsNan(a))) ? Format::kOne : Bits{0};
  }
};

struct Float32 {
  using Bits = uint32_t;
  static constexpr Bits kInfinity = kFloatInfinity, kQuiet = kFloatQuiet, kOne = std::bit_cast<Bits>(1.0f);
  static Bits Add(Bits a, Bits b) { return std::bit_cast<Bits>(std::bit_cast<float>(a) + std::bit_cast<float>(b)); }
};

struct Float16 {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = kHalfInfinity, kQuiet = kHalfQuiet, kOne = kHalfOne;
  static Bits Add(Bits a, Bits b) { return FloatToHalf(HalfToFloat(a) + HalfToFloat(b)); }
};

struct BFloat16 {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = kBFloat16Infinity, kQuiet = kBFloat16Quiet, kOne = kBFloat16One;
  static Bits Add(Bits a, Bits b) { return FloatToBFloat16(BFloat16ToFloat(a) + BFloat16ToFloat(b)); }
};

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
#endif
  auto* d = static_cast<char*>(dst) + done * sizeof(uint16_t);
  auto* s = static_cast<const char*>(src) + done * sizeof(uint16_t);
  ReduceArray<uint16_t, &FloatingOps<Float16>::Sum>(d, s, count - done);
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
  Row row = MakeRow<FloatingOps<Float16>>();
  row.reduce[static_cast<size_t>(ReduceOp::kSum)] = &SumHalves;
  return row;
}

// By ReduceType, without kInt4 at the end.
constexpr Row kRows[] = {
    MakeRow<FloatingOps<Float32>>(),  MakeHalfRow(),
    MakeRow<FloatingOps<BFloat16>>(), MakeRow<IntegerOps<int8_t>>(),
    MakeRow<IntegerOps<int16_t>>(),   MakeRow<IntegerOps<int32_t>>(),
    MakeRow<IntegerOps<uint8_t>>(),   MakeRow<IntegerOps<uint16_t>>(),
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
