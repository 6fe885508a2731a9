// What host and GPU code agree on.
#pragma once

#include <cstddef>

namespace ropeway::cuda {

struct KernelPiece {
  void* dst;
  const void* src;
  size_t size;
};

}  // namespace ropeway::cuda
