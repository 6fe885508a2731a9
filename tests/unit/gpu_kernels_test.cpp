// The GPU's copy kernels on a machine without one: their source, compiled for this processor, with every thread of a block as a fiber that
// runs from one exchange with the other lanes of its warp to the next. What is wrong in their arithmetic is found here, not on a device.
#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "engine/cuda/kernel_types.h"

namespace gpu_kernels_test {

struct Index {
  unsigned x;
};
Index threadIdx, blockIdx, blockDim, gridDim;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

// The threads of one block, in lock step.
class Block {
 public:
  static constexpr unsigned kWarp = 32;
  static constexpr size_t kStack = size_t{128} << 10;

  // What a thread hands to the others at its n-th exchange, and what it sees of them then.
  static uint64_t Exchange(uint64_t value, unsigned lane) {
    Block& self = *running_;
    const unsigned me = threadIdx.x;
    auto& round = self.given_[self.exchanges_[me]++ % 2];
    round[me] = value;
    swapcontext(&self.threads_[me], &self.scheduler_);
    return round[me / kWarp * kWarp + lane % kWarp];
  }

  static void Run(unsigned threads, const std::function<void()>& body) {
    Block block(threads, body);
    running_ = &block;
    for (size_t left = threads; left != 0;) {
      left = 0;
      for (unsigned i = 0; i < threads; ++i) {
        if (block.done_[i]) continue;
        threadIdx.x = i;
        swapcontext(&block.scheduler_, &block.threads_[i]);
        left += block.done_[i] ? 0 : 1;
      }
    }
  }

 private:
  Block(unsigned threads, const std::function<void()>& body)
      : body_(body), threads_(threads), stacks_(new char[threads * kStack]), done_(threads), exchanges_(threads) {
    for (auto& round : given_) round.resize(threads);
    for (unsigned i = 0; i < threads; ++i) {
      getcontext(&threads_[i]);
      threads_[i].uc_stack = {stacks_.get() + i * kStack, 0, kStack};
      threads_[i].uc_link = &scheduler_;
      makecontext(&threads_[i], &Begin, 0);
    }
  }
  static void Begin() {
    const unsigned me = threadIdx.x;
    running_->body_();
    running_->done_[me] = true;
  }

  inline static Block* running_ = nullptr;
  const std::function<void()>& body_;
  ucontext_t scheduler_;
  std::vector<ucontext_t> threads_;
  std::unique_ptr<char[]> stacks_;
  std::vector<char> done_;
  std::vector<unsigned> exchanges_;
  std::vector<uint64_t> given_[2];
};

template <typename T>
T __shfl_sync(unsigned, T value, unsigned lane) {
  return static_cast<T>(Block::Exchange(value, lane));
}
// The lanes in front keep what they have, as on the device.
unsigned __shfl_up_sync(unsigned, unsigned value, unsigned step) {
  const unsigned lane = threadIdx.x % Block::kWarp;
  return static_cast<unsigned>(Block::Exchange(value, lane >= step ? lane - step : lane));
}
bool __all_sync(unsigned mask, bool value) {
  bool all = true;
  for (unsigned lane = 0; lane < Block::kWarp; ++lane) all &= __shfl_sync(mask, unsigned{value}, lane) != 0;
  return all;
}
// Of one warp: the blocks here that ask have no more.
bool __syncthreads_or(bool value) { return !__all_sync(~0u, !value); }
unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>(((uint64_t{high} << 32) | low) >> (bits % 32));
}

#define __device__
#define __global__
#define __grid_constant__
#define __CUDA_ARCH__ 0
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // loads that are left out are not stored
#endif
#include "engine/cuda/kernels.cu"
#pragma GCC diagnostic pop
#undef __device__
#undef __global__
#undef __grid_constant__
#undef __CUDA_ARCH__

using ropeway::cuda::FewPieces;
using ropeway::cuda::KernelPiece;

void Launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) Block::Run(threads, kernel);
}

// Pieces that lie behind each other on both sides, with gaps; what they shall bring is copied by memcpy.
class Scene {
 public:
  // `grain`: what addresses and sizes are multiples of.
  Scene(size_t count, size_t largest, size_t grain, unsigned seed) : random_(seed), from_(Room(count, largest)), to_(from_.size()) {
    for (size_t i = 0; i < from_.size(); ++i) from_[i] = static_cast<char>(random_());
    std::fill(to_.begin(), to_.end(), 'x');
    wanted_ = to_;
    size_t src = Aligned(from_), dst = Aligned(to_);
    for (size_t i = 0; i < count; ++i) {
      const size_t size = random_() % (largest / grain + 1) * grain;
      pieces.push_back({&to_[dst], &from_[src], size});
      std::memcpy(&wanted_[dst], &from_[src], size);
      src += size + random_() % 3 * grain;
      dst += size + random_() % 3 * grain;
    }
  }
  void ExpectArrived() const { EXPECT_TRUE(to_ == wanted_); }

  std::vector<KernelPiece> pieces;

 private:
  static size_t Room(size_t count, size_t largest) { return (count + 1) * (largest + 2 * 256) + 4096; }
  static size_t Aligned(const std::vector<char>& bytes) { return 256 - reinterpret_cast<uintptr_t>(bytes.data()) % 256; }

  std::mt19937 random_;
  std::vector<char> from_, to_, wanted_;
};

TEST(GpuKernels, ListsOfSmallVectorsArrive) {
  for (const auto& [count, largest] : {std::pair{1u, 16u}, {31u, 64u}, {33u, 1024u}, {100u, 2048u}}) {
    Scene scene(count, largest, 16, count);
    Launch(2, 64, [&] { ropeway_copy_pieces(scene.pieces.data(), static_cast<unsigned>(scene.pieces.size())); });
    scene.ExpectArrived();
  }
}

TEST(GpuKernels, ListsOfAnySizeAndAlignmentArrive) {
  for (const auto& [count, largest] : {std::pair{3u, 20000u}, {40u, 100u}, {70u, 5000u}}) {
    Scene scene(count, largest, 1, count);
    Launch(2, 64, [&] { ropeway_copy_pieces(scene.pieces.data(), static_cast<unsigned>(scene.pieces.size())); });
    scene.ExpectArrived();
  }
}

// A source that ends with its memory, where AddressSanitizer sees every byte too many.
TEST(GpuKernels, NothingOutsideOfASourceIsRead) {
  for (size_t offset = 0; offset < 16; ++offset) {
    for (size_t size : {40u, 64u, 65u, 79u, 80u, 1000u}) {
      const std::unique_ptr<char[]> source(new char[size]);
      for (size_t i = 0; i < size; ++i) source[i] = static_cast<char>(i * 7 + offset);
      std::vector<char> to(offset + size + 16, 'x');
      const KernelPiece piece{&to[offset], source.get(), size};
      Launch(1, 32, [&] { ropeway_copy_pieces(&piece, 1); });
      EXPECT_EQ(std::memcmp(&to[offset], source.get(), size), 0) << size << " bytes to " << offset;
      EXPECT_EQ(to[offset + size], 'x');
    }
  }
}

TEST(GpuKernels, FewPiecesArrive) {
  for (size_t grain : {size_t{1}, size_t{16}}) {
    Scene scene(20, 9000, grain, 5);
    FewPieces few{};
    few.share = 4096;
    for (const KernelPiece& piece : scene.pieces) {
      if (piece.size == 0) continue;
      few.pieces[few.count] = piece;
      few.first[few.count++] = few.shares;
      few.shares += static_cast<unsigned>((piece.size + few.share - 1) / few.share);
    }
    Launch(2, 64, [&] { ropeway_copy_few(few); });
    scene.ExpectArrived();
  }
}

}  // namespace gpu_kernels_test
