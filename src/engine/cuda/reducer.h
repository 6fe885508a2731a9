// Reductions on the GPU, to the CPU's bits (reduce_types.h says how).
#pragma once

#include <cstddef>

#include "engine/cuda/driver.h"
#include "engine/reduce_kinds.h"

namespace ropeway::cuda {

class Reducer {
 public:
  // Once, in the context of this GPU.
  CUresult Load(const Driver& driver, int ordinal);
  // Device memory, aligned to the type.
  CUresult Launch(void* dst, const void* src, size_t bytes, ReduceOp op, ReduceType type, CUstream stream) const;

 private:
  const Driver* driver_ = nullptr;
  CUfunction kernel_ = nullptr;
  size_t most_blocks_ = 1;
};

}  // namespace ropeway::cuda
