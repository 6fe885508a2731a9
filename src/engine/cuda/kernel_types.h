// What host and GPU code agree on.
#pragma once

#include <cstddef>

namespace ropeway::cuda {

struct KernelPiece {
  void* dst;
  const void* src;
  size_t size;
};

// Few pieces travel with the launch itself and are cut by the GPU: no list that it would have to fetch first.
struct FewPieces {
  static constexpr unsigned kMost = 64;  // a launch takes 4 KiB along, and costs more the more it takes
  unsigned count;
  unsigned share;             // bytes that a warp copies at a time
  unsigned shares;            // of all pieces
  unsigned first[kMost + 1];  // share of each piece
  KernelPiece pieces[kMost];
};
static_assert(sizeof(FewPieces) <= 4096);

}  // namespace ropeway::cuda
