// What the GPU runs for reductions: the CPU's own operators (base/reduce_ops.h), so that both engines agree to the last bit. Compiled like
// kernels.cu, and without contraction of products and sums.
#include "engine/cuda/reduce_types.h"

namespace {

using ropeway::BFloat16Format;
using ropeway::Float16Format;
using ropeway::Float32Format;
using ropeway::FloatingOps;
using ropeway::IntegerOps;
using ropeway::ReduceOp;
using ropeway::ReduceType;
using ropeway::cuda::Reduction;
using ropeway::cuda::SumLikeCpu;

constexpr unsigned kVector = 16;
// Vectors of each operand that a thread has in flight.
constexpr int kUnroll = 2;

template <class Ops, ReduceOp kOp>
struct IntegerElement {
  using T = typename Ops::Bits;
  __device__ explicit IntegerElement(const Reduction&) {}
  __device__ T operator()(T a, T b) const {
    if constexpr (kOp == ReduceOp::kSum) return Ops::Sum(a, b);
    if constexpr (kOp == ReduceOp::kMax) return Ops::Max(a, b);
    if constexpr (kOp == ReduceOp::kMin) return Ops::Min(a, b);
    return Ops::Equal(a, b);
  }
};

template <class Format, ReduceOp kOp>
struct FloatElement {
  using Ops = FloatingOps<Format>;
  using T = typename Ops::Bits;
  const uint32_t made_up_nan;
  __device__ explicit FloatElement(const Reduction& all) : made_up_nan(all.made_up_nan) {}
  __device__ T operator()(T a, T b) const {
    if constexpr (kOp == ReduceOp::kSum) return SumLikeCpu<Format>::Of(a, b, made_up_nan);
    if constexpr (kOp == ReduceOp::kMax) return Ops::Max(a, b);
    if constexpr (kOp == ReduceOp::kMin) return Ops::Min(a, b);
    return Ops::Equal(a, b);
  }
};

template <class Element>
__device__ uint4 Combine(const Element& element, uint4 a, const uint4& b) {
  using T = typename Element::T;
  constexpr unsigned kCount = kVector / sizeof(T);
  T left[kCount], right[kCount];
  memcpy(left, &a, kVector);
  memcpy(right, &b, kVector);
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i) left[i] = element(left[i], right[i]);
  memcpy(&a, left, kVector);
  return a;
}

template <class Element>
__device__ void CombineVectors(const Element& element, uint4* dst, const uint4* src, size_t count, size_t me, size_t threads) {
  size_t i = me;
  for (; i + (kUnroll - 1) * threads < count; i += kUnroll * threads) {
    uint4 a[kUnroll], b[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) a[u] = dst[i + u * threads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) b[u] = src[i + u * threads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) dst[i + u * threads] = Combine(element, a[u], b[u]);
  }
  for (; i < count; i += threads) dst[i] = Combine(element, dst[i], src[i]);
}

// Elements up to an aligned vector, vectors, elements; elements alone when the operands are not aligned alike.
template <class Element>
__device__ void Run(const Reduction& all) {
  using T = typename Element::T;
  const Element element(all);
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t me = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  auto* dst = static_cast<T*>(all.dst);
  auto* src = static_cast<const T*>(all.src);
  const size_t count = all.bytes / sizeof(T);
  const auto at = reinterpret_cast<unsigned long long>(dst), from = reinterpret_cast<unsigned long long>(src);
  size_t head = count, vectors = 0;
  if (at % kVector == from % kVector) {
    const size_t to_vector = static_cast<unsigned>(-at) % kVector / sizeof(T);
    head = to_vector < count ? to_vector : count;
    vectors = (count - head) * sizeof(T) / kVector;
  }
  CombineVectors(element, reinterpret_cast<uint4*>(dst + head), reinterpret_cast<const uint4*>(src + head), vectors, me, threads);
  for (size_t i = me; i < head; i += threads) dst[i] = element(dst[i], src[i]);
  for (size_t i = head + vectors * (kVector / sizeof(T)) + me; i < count; i += threads) dst[i] = element(dst[i], src[i]);
}

template <class Format>
__device__ void RunFloats(const Reduction& all) {
  switch (all.op) {
    case ReduceOp::kSum: return Run<FloatElement<Format, ReduceOp::kSum>>(all);
    case ReduceOp::kMax: return Run<FloatElement<Format, ReduceOp::kMax>>(all);
    case ReduceOp::kMin: return Run<FloatElement<Format, ReduceOp::kMin>>(all);
    case ReduceOp::kEqual: return Run<FloatElement<Format, ReduceOp::kEqual>>(all);
  }
}

template <class T>
__device__ void RunIntegers(const Reduction& all) {
  switch (all.op) {
    case ReduceOp::kSum: return Run<IntegerElement<IntegerOps<T>, ReduceOp::kSum>>(all);
    case ReduceOp::kMax: return Run<IntegerElement<IntegerOps<T>, ReduceOp::kMax>>(all);
    case ReduceOp::kMin: return Run<IntegerElement<IntegerOps<T>, ReduceOp::kMin>>(all);
    case ReduceOp::kEqual: return Run<IntegerElement<IntegerOps<T>, ReduceOp::kEqual>>(all);
  }
}

}  // namespace

extern "C" __global__ void ropeway_reduce(const __grid_constant__ Reduction all) {
  switch (all.type) {
    case ReduceType::kFloat32: return RunFloats<Float32Format>(all);
    case ReduceType::kFloat16: return RunFloats<Float16Format>(all);
    case ReduceType::kBFloat16: return RunFloats<BFloat16Format>(all);
    case ReduceType::kInt8: return RunIntegers<int8_t>(all);
    case ReduceType::kInt16: return RunIntegers<int16_t>(all);
    case ReduceType::kInt32: return RunIntegers<int32_t>(all);
    case ReduceType::kUInt8: return RunIntegers<uint8_t>(all);
    case ReduceType::kUInt16: return RunIntegers<uint16_t>(all);
    case ReduceType::kUInt32: return RunIntegers<uint32_t>(all);
    case ReduceType::kInt4: return;  // cpu::CanReduce
  }
}
