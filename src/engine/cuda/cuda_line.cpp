#include "engine/cuda/cuda_line.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/spin_lock.h"

namespace ropeway::cuda {
namespace {

// Pieces up to here go by the kernel, larger ones by the copy engines, which need no help from there on.
constexpr size_t kKernelUpTo = size_t{256} << 10;
// What one warp gets at a time: all warps busy, and the last one not keeping the others waiting.
constexpr size_t kSmallestShare = size_t{4} << 10;
constexpr size_t kLargestShare = size_t{32} << 10;
constexpr unsigned kThreads = 512;
constexpr unsigned kWarpsPerCta = kThreads / 32;
constexpr size_t kSharesPerWarp = 8;
// A plain burst is collected up to here: the look for overlaps grows with it.
constexpr size_t kMostCollected = 256;
// Lists are launched in slices, so that the GPU works while the next one is written.
constexpr size_t kSlice = 8192;
constexpr size_t kStagingBytes = size_t{4} << 20;
constexpr size_t kAlignment = 256;

bool Overlap(const void* a, size_t a_size, const void* b, size_t b_size) {
  const auto begin_a = reinterpret_cast<uintptr_t>(a), begin_b = reinterpret_cast<uintptr_t>(b);
  return begin_a < begin_b + b_size && begin_b < begin_a + a_size;
}

}  // namespace

CudaLine::CudaLine(const Gpu& gpu) : gpu_(gpu) {
  const Driver& driver = *gpu_.driver;
  Note(driver.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

CudaLine::~CudaLine() {
  const Driver& driver = *gpu_.driver;
  driver.cuCtxSetCurrent(gpu_.context);
  if (stream_ != nullptr) driver.cuStreamDestroy(stream_);
  if (staging_ != nullptr) driver.cuMemFreeHost(staging_);
  if (lists_ != 0) driver.cuMemFree(lists_);
}

bool CudaLine::Touches(const KernelPiece& piece) const {
  return std::any_of(collected_.begin(), collected_.end(), [&](const KernelPiece& other) {
    return Overlap(piece.dst, piece.size, other.dst, other.size) || Overlap(piece.dst, piece.size, other.src, other.size) ||
           Overlap(piece.src, piece.size, other.dst, other.size);
  });
}

void CudaLine::CopyByEngine(void* dst, const void* src, size_t size) {
  Note(gpu_.driver->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src), size, stream_));
}

void CudaLine::Copy(void* dst, const void* src, size_t size) {
  const KernelPiece piece{dst, src, size};
  if (size <= kKernelUpTo) {
    if (collected_.size() >= kMostCollected || Touches(piece)) Flush();
    collected_.push_back(piece);
    collected_bytes_ += size;
    return;
  }
  Flush();
  CopyByEngine(dst, src, size);
}

void CudaLine::Flush() {
  if (collected_.empty()) return;
  std::vector<KernelPiece> pieces;
  pieces.swap(collected_);
  const size_t bytes = std::exchange(collected_bytes_, 0);
  // One piece of a plain copy costs less as what it is.
  if (pieces.size() == 1) {
    CopyByEngine(pieces[0].dst, pieces[0].src, pieces[0].size);
  } else {
    CopyUnordered(pieces, bytes);
  }
  pieces.clear();
  collected_.swap(pieces);  // keeps its room
}

char* CudaLine::TakeStaging(size_t bytes) {
  const Driver& driver = *gpu_.driver;
  if (staging_ == nullptr) {
    Note(driver.cuMemHostAlloc(reinterpret_cast<void**>(&staging_), kStagingBytes, CU_MEMHOSTALLOC_PORTABLE));
    Note(driver.cuMemAlloc(&lists_, kStagingBytes));
  }
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (used_ + bytes > kStagingBytes) {
    Note(driver.cuStreamSynchronize(stream_));  // what is in there is still being read
    used_ = 0;
  }
  if (first_failure_ != CUDA_SUCCESS) return nullptr;
  used_ += bytes;
  return staging_ + used_ - bytes;
}

void CudaLine::BeginUnordered(size_t bytes) {
  Flush();
  const size_t warps = gpu_.ctas * kWarpsPerCta;
  share_ = std::clamp(bytes / (warps * kSharesPerWarp) / 512 * 512, kSmallestShare, kLargestShare);
  list_length_ = 0;
  char* list = TakeStaging(kSlice * sizeof(KernelPiece));
  list_start_ = list == nullptr ? SIZE_MAX : static_cast<size_t>(list - staging_);
}

void CudaLine::AddUnordered(void* dst, const void* src, size_t size) {
  if (list_start_ == SIZE_MAX) return;  // failed already
  if (size > kKernelUpTo) return CopyByEngine(dst, src, size);
  for (size_t at = 0; at < size; at += share_) {
    if (list_length_ == kSlice) {
      Launch();
      char* list = TakeStaging(kSlice * sizeof(KernelPiece));
      list_start_ = list == nullptr ? SIZE_MAX : static_cast<size_t>(list - staging_);
      list_length_ = 0;
      if (list == nullptr) return;
    }
    List()[list_length_++] = {static_cast<char*>(dst) + at, static_cast<const char*>(src) + at, std::min(share_, size - at)};
  }
}

void CudaLine::EndUnordered() {
  if (list_start_ != SIZE_MAX && list_length_ > 0) Launch();
}

void CudaLine::Launch() {
  const Driver& driver = *gpu_.driver;
  CUdeviceptr list = lists_ + list_start_;
  auto number = static_cast<unsigned>(list_length_);
  Note(driver.cuMemcpyAsync(list, reinterpret_cast<CUdeviceptr>(List()), number * sizeof(KernelPiece), stream_));
  void* arguments[] = {&list, &number};
  Note(driver.cuLaunchKernel(gpu_.copy_pieces, std::min(gpu_.ctas, number), 1, 1, kThreads, 1, 1, 0, stream_, arguments, nullptr));
}

void CudaLine::Store(void* address, uint64_t value) {
  Flush();
  char* staged = TakeStaging(sizeof(value));
  if (staged == nullptr) return;
  std::memcpy(staged, &value, sizeof(value));
  CopyByEngine(address, staged, sizeof(value));
}

void CudaLine::Read(void* out, const void* address, size_t size) {
  Flush();
  char* staged = TakeStaging(kMostRead);
  if (staged == nullptr) return;
  CopyByEngine(staged, address, size);
  Note(Wait());
  std::memcpy(out, staged, size);
}

CUresult CudaLine::Wait() {
  // Looks all the time at first, then lets others have the core in between, and in the end sleeps for a small part of what has passed: late
  // by little (a nap takes 50 us more than it says), and not a busy core for long.
  constexpr int64_t kSpinNs = 100000;
  constexpr int64_t kYieldNs = 3000000;
  Flush();
  const int64_t start = NowNs();
  CUresult result = gpu_.driver->cuStreamQuery(stream_);
  while (result == CUDA_ERROR_NOT_READY) {
    const int64_t waited = NowNs() - start;
    if (waited > kYieldNs) {
      const timespec nap = {0, static_cast<long>(std::min<int64_t>(waited / 64, 500000))};
      nanosleep(&nap, nullptr);
    } else if (waited > kSpinNs) {
      sched_yield();
    } else {
      CpuRelax();
    }
    result = gpu_.driver->cuStreamQuery(stream_);
  }
  used_ = 0;
  Note(result);
  return std::exchange(first_failure_, CUDA_SUCCESS);
}

}  // namespace ropeway::cuda
