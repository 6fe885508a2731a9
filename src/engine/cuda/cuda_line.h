// Work in order on one GPU stream. Small copies are collected as long as they do not touch each other's bytes and then moved by one
// kernel: a burst of small copies, each of which would cost the driver microseconds, becomes one launch. Everything else flushes what
// was collected and goes to the copy engines.
#pragma once

#include <vector>

#include "engine/backend.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/kernel_types.h"

namespace ropeway::cuda {

// What all lines of a GPU share.
struct Gpu {
  const Driver* driver = nullptr;
  CUcontext context = nullptr;
  CUfunction copy_pieces = nullptr;
  unsigned ctas = 16;
};

class CudaLine final : public Backend::Line {
 public:
  explicit CudaLine(const Gpu& gpu);
  ~CudaLine() override;

  CUstream stream() const { return stream_; }
  // A copy between memory that the GPU reaches; ordered behind everything in front of it.
  void Copy(void* dst, const void* src, size_t size);
  // Pieces that are not ordered among each other, `bytes` in all.
  template <typename Pieces>
  void CopyUnordered(const Pieces& pieces, size_t bytes) {
    BeginUnordered(bytes);
    for (const auto& piece : pieces) AddUnordered(piece.dst, piece.src, piece.size);
    EndUnordered();
  }
  // Issues what was collected; callers that use stream() themselves do this first.
  void Flush();
  // Stores a word in order.
  void Store(void* address, uint64_t value);
  // Reads device memory behind everything in front; at most kMostRead bytes.
  static constexpr size_t kMostRead = 256;
  void Read(void* out, const void* address, size_t size);
  // Waits for everything. The first failure since the last call.
  CUresult Wait();
  // For calls on stream() by others.
  void Note(CUresult result) {
    if (first_failure_ == CUDA_SUCCESS) first_failure_ = result;
  }

 private:
  bool Touches(const KernelPiece& piece) const;
  void CopyByEngine(void* dst, const void* src, size_t size);
  void BeginUnordered(size_t bytes);
  void AddUnordered(void* dst, const void* src, size_t size);
  void EndUnordered();
  // Launches the list that was written behind list_start_.
  void Launch();
  // The next `bytes` of the staging memory; null when there is none.
  char* TakeStaging(size_t bytes);
  KernelPiece* List() { return reinterpret_cast<KernelPiece*>(staging_ + list_start_); }

  const Gpu& gpu_;
  CUstream stream_ = nullptr;
  std::vector<KernelPiece> collected_;
  size_t collected_bytes_ = 0;
  // Lists on their way to the GPU: written here, copied there, used until the next Wait.
  char* staging_ = nullptr;
  CUdeviceptr lists_ = 0;
  size_t used_ = 0;
  size_t list_start_ = 0;   // of the list that is being written
  size_t list_length_ = 0;
  size_t share_ = 0;        // how it is cut
  CUresult first_failure_ = CUDA_SUCCESS;
};

}  // namespace ropeway::cuda
