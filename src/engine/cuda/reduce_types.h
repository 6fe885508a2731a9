// What host and GPU code agree on about reductions, and how the GPU comes to the CPU's bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/reduce_ops.h"
#include "engine/reduce_kinds.h"

namespace ropeway::cuda {

// dst[i] = dst[i] op src[i]; both are aligned to the type.
struct Reduction {
  void* dst;
  const void* src;
  size_t bytes;          // what is left behind the last whole element stays as it is
  uint32_t made_up_nan;  // of floats: what the host's processor makes of infinity minus infinity
  ReduceOp op;
  ReduceType type;
};

// The sum as the CPU has it. A GPU gives one and the same NaN whatever the operands were; so it is told which one it must be.
template <class Format>
struct SumLikeCpu {
  using Bits = typename Format::Bits;
  static constexpr Bits Of(Bits a, Bits b, uint32_t made_up_nan) {
    using Ops = FloatingOps<Format>;
    const Bits sum = Ops::Sum(a, b);
    return Ops::OrNan(a, b, Ops::IsNan(sum) ? Format::Narrow(std::bit_cast<float>(made_up_nan)) : sum);
  }
};

}  // namespace ropeway::cuda
