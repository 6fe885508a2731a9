// Element-wise reduction by the CPU: of the collectives, and of the dispatcher where the runtime's copy engine does not reduce (products,
// wide and unsigned types, operands on another device).
#pragma once

#include <cstdint>

#include "hccl/hccl_types.h"

namespace ropeway::comm {

// to[i] = a[i] op b[i] for `count` elements. No alignment needed; `to` may be `a` or `b`, and overlaps neither otherwise.
using ReduceKernel = void (*)(void* to, const void* a, const void* b, uint64_t count);

// Null for a pair that cannot be reduced: 8-bit floats, and numbers that are no type or no operation. Integers wrap. 16-bit floats are
// computed as floats and rounded to nearest even. Max and min give a NaN when either operand is one, and hold +0 for greater than -0: the
// runtime's rules. The best code for this CPU; the bits are the same for all.
ReduceKernel FindReduceKernel(HcclDataType type, HcclReduceOp op);
// The same in portable code, for tests.
ReduceKernel FindPlainReduceKernel(HcclDataType type, HcclReduceOp op);

// Bytes of one element; 0 for a type that there is not.
uint64_t ElementBytes(HcclDataType type);

}  // namespace ropeway::comm
