// Element-wise reduction of one array into another.
#pragma once

#include <cstddef>

#include "engine/task.h"

namespace ropeway::cpu {

using ropeway::ReduceOp;
using ropeway::ReduceType;

// Whether Reduce() knows this pair: all but kInt4.
bool CanReduce(ReduceOp op, ReduceType type);

// dst[i] = dst[i] op src[i] for every whole element in `bytes`; neither array needs alignment. Integer sums wrap. The
// 16-bit floats are added as floats and rounded to nearest even. A NaN in either operand makes the result that NaN, quiet; of
// two the one in dst. kMax and kMin hold +0 for greater than -0. kEqual gives 1 or 0 in the element's type. dst == src is fine; when the
// arrays overlap otherwise, the result is unspecified. Does nothing for a pair that CanReduce() denies.
void Reduce(void* dst, const void* src, size_t bytes, ReduceOp op, ReduceType type);

}  // namespace ropeway::cpu
