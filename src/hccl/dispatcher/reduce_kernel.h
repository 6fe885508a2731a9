// Element-wise reduction by the CPU, for what the runtime's copy engine does not reduce: products, wide and unsigned types, and
// operands on another device.
#pragma once

#include <cstdint>

#include "hccl/hccl_types.h"

namespace ropeway::comm {

// dst[i] = dst[i] op src[i] for `count` elements; no alignment needed.
using ReduceKernel = void (*)(void* dst, const void* src, uint64_t count);

// Null for a pair that cannot be reduced: 128-bit integers, 8-bit floats, and numbers that are no type or no operation. Integers
// wrap. 16-bit floats are computed as floats and rounded to nearest even. Max and min give a NaN when either operand is one, and
// hold +0 for greater than -0: the runtime's rules.
ReduceKernel FindReduceKernel(HcclDataType type, HcclReduceOp op);

}  // namespace ropeway::comm
