// What the GPU runs for the CUDA engine: kernels that copy many pieces, or few, between any two of host and device memory.
// Compiled by nvcc to a fat binary that the plugin carries; no CUDA runtime is involved.
#include "engine/cuda/kernel_types.h"

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kVector = 16;
// Loads that a thread has in flight: what hides the latency of the link.
constexpr int kUnroll = 8;

// The 16 bytes that begin `shift` bytes into two neighbouring vectors; 0 < shift < 16.
__device__ uint4 Straddle(const uint4& low, const uint4& high, unsigned shift) {
  const unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  const unsigned bits = (shift % 4) * 8;
  uint4 out;
  // Indexed by a constant in each case, so that the words stay in registers.
  switch (shift / 4) {
    case 0:
      out = {__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
             __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits)};
      break;
    case 1:
      out = {__funnelshift_r(words[1], words[2], bits), __funnelshift_r(words[2], words[3], bits),
             __funnelshift_r(words[3], words[4], bits), __funnelshift_r(words[4], words[5], bits)};
      break;
    case 2:
      out = {__funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits),
             __funnelshift_r(words[4], words[5], bits), __funnelshift_r(words[5], words[6], bits)};
      break;
    default:
      out = {__funnelshift_r(words[3], words[4], bits), __funnelshift_r(words[4], words[5], bits),
             __funnelshift_r(words[5], words[6], bits), __funnelshift_r(words[6], words[7], bits)};
  }
  return out;
}

__device__ void CopyBytes(char* dst, const char* src, unsigned size, unsigned lane) {
  for (unsigned i = lane; i < size; i += kWarp) dst[i] = src[i];
}

// `count` vectors to an aligned destination; the source lies `shift` bytes into an aligned vector. All loads of a round are on their way
// before the first store, in the last round, too: a store that may touch what is loaded next would hold that up.
template <bool kShifted>
__device__ void CopyVectors(uint4* dst, const uint4* src, unsigned shift, size_t count, unsigned lane) {
  for (size_t i = lane; i < count; i += kUnroll * kWarp) {
    uint4 low[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * kWarp < count) low[u] = src[i + u * kWarp];
    }
    if (kShifted) {
      uint4 high[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (i + u * kWarp < count) high[u] = src[i + u * kWarp + 1];
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) low[u] = Straddle(low[u], high[u], shift);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u * kWarp < count) dst[i + u * kWarp] = low[u];
    }
  }
}

// One piece by one warp: bytes up to an aligned destination, vectors, bytes. A source that is aligned differently gives a vector's bytes
// more to either side, so that no vector is read that lies in part outside of it: what is there may be nobody's, as far as a checker of
// memory knows.
__device__ void CopyPiece(char* dst, const char* src, size_t size, unsigned lane) {
  const auto to_aligned = [](const void* at) { return static_cast<unsigned>(-reinterpret_cast<unsigned long long>(at)) % kVector; };
  const bool shifted = to_aligned(dst) != to_aligned(src);
  const unsigned head = to_aligned(dst) + (shifted ? kVector : 0);
  if (size < head + 2 * kVector) {
    CopyBytes(dst, src, static_cast<unsigned>(size), lane);
    return;
  }
  CopyBytes(dst, src, head, lane);
  dst += head;
  src += head;
  size -= head;
  const size_t count = size / kVector - (shifted ? 1 : 0);
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<unsigned long long>(src) % kVector);
  auto* to = reinterpret_cast<uint4*>(dst);
  auto* from = reinterpret_cast<const uint4*>(src - shift);
  if (shifted) {
    CopyVectors<true>(to, from, shift, count, lane);
  } else {
    CopyVectors<false>(to, from, 0, count, lane);
  }
  CopyBytes(dst + count * kVector, src + count * kVector, static_cast<unsigned>(size - count * kVector), lane);
}

// What lane `i` holds, for all lanes of the warp.
__device__ size_t From(size_t value, unsigned i) { return __shfl_sync(~0u, static_cast<unsigned long long>(value), i); }
__device__ char* From(void* value, unsigned i) { return reinterpret_cast<char*>(From(reinterpret_cast<size_t>(value), i)); }
__device__ const char* From(const void* value, unsigned i) {
  return reinterpret_cast<const char*>(From(reinterpret_cast<size_t>(value), i));
}

// Whether all pieces of a window, one per lane, are whole vectors, and too small to keep a warp busy one by one.
__device__ bool AreSmallVectors(const ropeway::cuda::KernelPiece& mine) {
  constexpr size_t kSmall = kUnroll * kWarp * kVector / 2;
  const size_t bits = reinterpret_cast<size_t>(mine.dst) | reinterpret_cast<size_t>(mine.src) | mine.size;
  return __all_sync(~0u, bits % kVector == 0 && mine.size <= kSmall);
}

// The vectors of a window as one range, so that every lane has all its loads on their way, whatever the pieces' sizes.
__device__ void CopyWindow(const ropeway::cuda::KernelPiece& mine, unsigned lane) {
  const unsigned count = static_cast<unsigned>(mine.size / kVector);
  unsigned end = count;  // of this lane's piece in the range
#pragma unroll
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const unsigned before = __shfl_up_sync(~0u, end, step);
    if (lane >= step) end += before;
  }
  const unsigned first = end - count;
  const unsigned total = __shfl_sync(~0u, end, kWarp - 1);
  for (unsigned base = 0; base < total; base += kUnroll * kWarp) {
    uint4 vectors[kUnroll];
    uint4* to[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const unsigned at = base + u * kWarp + lane;
      unsigned piece = 0;  // the last one that begins at or before it
#pragma unroll
      for (unsigned step = kWarp / 2; step != 0; step /= 2) {
        if (__shfl_sync(~0u, first, piece + step) <= at) piece += step;
      }
      const unsigned index = at - __shfl_sync(~0u, first, piece);
      to[u] = reinterpret_cast<uint4*>(From(mine.dst, piece)) + index;
      const uint4* from = reinterpret_cast<const uint4*>(From(mine.src, piece)) + index;
      if (at < total) vectors[u] = *from;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (base + u * kWarp + lane < total) *to[u] = vectors[u];
    }
  }
}

// Slices of one list need not wait for each other: the next one may begin as soon as all blocks of this one run, and its end waits for the
// end of this one, so that whatever comes behind the list waits for all of it. Older GPUs run slice by slice.
__device__ void LetNextSliceBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ void AwaitSlicesInFront() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace

// The list lies in host memory, a long way off: a warp takes a run of neighbours, reads 32 of them at once, one per lane, and asks for
// the next 32 before it copies. Runs are dealt out so that few pieces keep all blocks busy; the host has cut them to about one size.
extern "C" __global__ void ropeway_copy_pieces(const ropeway::cuda::KernelPiece* pieces, unsigned count) {
  LetNextSliceBegin();
  const unsigned lane = threadIdx.x % kWarp;
  const size_t warps = gridDim.x * (blockDim.x / kWarp);
  const size_t warp = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const size_t end = count * (warp + 1) / warps;
  const auto fetch = [&](size_t at) { return at + lane < end ? pieces[at + lane] : ropeway::cuda::KernelPiece{}; };
  size_t at = count * warp / warps;
  ropeway::cuda::KernelPiece mine = fetch(at);
  for (; at < end; at += kWarp) {
    const ropeway::cuda::KernelPiece next = fetch(at + kWarp);
    const unsigned number = static_cast<unsigned>(end - at < kWarp ? end - at : kWarp);
    if (AreSmallVectors(mine)) {
      CopyWindow(mine, lane);
    } else {
      for (unsigned i = 0; i < number; ++i) CopyPiece(From(mine.dst, i), From(mine.src, i), From(mine.size, i), lane);
    }
    mine = next;
  }
  AwaitSlicesInFront();
}

extern "C" __global__ void ropeway_copy_few(const __grid_constant__ ropeway::cuda::FewPieces few) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warps = gridDim.x * (blockDim.x / kWarp);
  for (unsigned share = threadIdx.x / kWarp * gridDim.x + blockIdx.x; share < few.shares; share += warps) {
    unsigned low = 0, high = few.count;  // the piece that the share belongs to is in [low, high)
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      if (few.first[middle] <= share) {
        low = middle;
      } else {
        high = middle;
      }
    }
    const ropeway::cuda::KernelPiece& piece = few.pieces[low];
    const size_t offset = static_cast<size_t>(share - few.first[low]) * few.share;
    const size_t left = piece.size - offset;
    CopyPiece(static_cast<char*>(piece.dst) + offset, static_cast<const char*>(piece.src) + offset, left < few.share ? left : few.share,
              lane);
  }
}
