// Work in order on one GPU stream. Small copies are collected as long as they do not touch each other's bytes and then moved by one
// kernel: a burst of small copies, each of which would cost the driver microseconds, becomes one launch. Everything else flushes what
// was collected and goes to the copy engines.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/cuda/cuda_points.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/kernel_types.h"
#include "engine/cuda/reducer.h"

namespace ropeway::cuda {

// What all lines of a GPU share.
struct Gpu {
  const Driver* driver = nullptr;
  CUcontext context = nullptr;
  CUfunction copy_pieces = nullptr;
  CUfunction copy_few = nullptr;
  Reducer reducer;
  std::shared_ptr<CudaPoints> points;
  unsigned ctas = 16;
  bool overlaps_slices = false;  // kernels of one stream can run beside each other

  // False when the driver does not give what is needed.
  bool SetUp(const Driver& the_driver, int ordinal, unsigned the_ctas);
  // Every thread that talks to the driver needs the context.
  void Enter() const;
};

// Asks `look` until it is done. Looks all the time at first, then lets others have the core in between, and in the end sleeps for a small
// part of what has passed: a nap ends 50 us late, so it must not come before that is nothing.
CUresult LookUntilDone(const std::function<CUresult()>& look);

class CudaLine final : public Backend::Line {
 public:
  explicit CudaLine(const Gpu& gpu);
  ~CudaLine() override;

  const Gpu& gpu() const { return *gpu_; }
  // What comes from here on is this GPU's, behind everything in front. A stream stays where its device is, so this is seldom.
  void MoveTo(const Gpu& gpu) {
    if (&gpu != gpu_) [[unlikely]]
      MoveAway(gpu);
  }
  // For work by other calls of the driver that writes to [dst, dst + size): behind everything in front of it, and noted.
  CUstream StreamToWrite(const void* dst, size_t size);
  // Issues what was collected.
  void Flush();
  // A copy between memory that the GPU reaches; ordered behind everything in front of it.
  void Copy(void* dst, const void* src, size_t size);
  static constexpr auto kAllWanted = [](const auto&) { return true; };
  static constexpr auto kNoMore = [] { return false; };
  // Those pieces that `wanted` lets through, not ordered among each other; `bytes` in all, or about that. `more` is asked when all that are
  // there have been launched: true when it has brought others, which are behind them in `pieces` now.
  template <typename Pieces, typename Wanted, typename More>
  void CopyUnordered(const Pieces& pieces, size_t bytes, Wanted wanted, More more) {
    Flush();
    writes_anywhere_ = true;
    Move(pieces, bytes, wanted, more);
  }
  // Stores a word in order.
  void Store(void* address, uint64_t value);
  // Reads device memory as it is behind everything in front; at most kMostRead bytes. Waits for what is in front only when that may
  // write there: else the copies in front go on meanwhile.
  static constexpr size_t kMostRead = 256;
  CUresult Read(void* out, const void* address, size_t size);
  // The next `bytes` of memory that the GPU reaches, at most kMostStaged; good until the next Wait. Null when there is none.
  static constexpr size_t kMostStaged = size_t{128} << 10;
  char* TakeStaging(size_t bytes);
  // The end of what was issued; null when something of it failed, or the driver refuses.
  std::shared_ptr<DevicePoint> MarkPoint();
  // What is issued from here on waits for the point on the GPU; false when it is another's.
  bool Follow(const CudaPoints::Point& point);
  // Waits for everything. The first failure since the last call.
  CUresult Wait();
  // For calls on the stream by others.
  void Note(CUresult result) {
    if (first_failure_ == CUDA_SUCCESS) first_failure_ = result;
  }

 private:
  void MoveAway(const Gpu& gpu);
  void DestroyStreams();
  struct Range {
    uintptr_t begin, end;
  };
  bool Touches(const KernelPiece& piece) const;
  void NoteWrite(const void* dst, size_t size);
  // Whether something that was started since the last Wait may write there.
  bool MayWrite(const void* address, size_t size) const;
  void CopyByEngine(void* dst, const void* src, size_t size);
  // Looks until everything on a stream is done.
  CUresult Await(CUstream stream) const;
  template <typename Pieces, typename Wanted, typename More>
  void Move(const Pieces& pieces, size_t bytes, Wanted wanted, More more) {
    slice_in_front_ = false;
    size_t done = 0;
    do {
      const std::span part(pieces.data() + done, pieces.size() - done);
      if (part.size() == 1) {  // costs less as what it is
        if (wanted(part[0])) CopyByEngine(part[0].dst, part[0].src, part[0].size);
      } else {
        part.size() <= FewPieces::kMost ? MoveFew(part, bytes, wanted) : MoveList(part, bytes, wanted);
      }
      done = pieces.size();
    } while (more());
  }
  template <typename Pieces, typename Wanted>
  void MoveList(const Pieces& pieces, size_t bytes, Wanted wanted) {
    BeginMove(pieces.size(), bytes);
    for (const auto& piece : pieces) {
      if (wanted(piece)) AddPiece(piece.dst, piece.src, piece.size);
    }
    LaunchList();
  }
  template <typename Pieces, typename Wanted>
  void MoveFew(const Pieces& pieces, size_t bytes, Wanted wanted) {
    FewPieces few;
    few.count = few.shares = 0;
    few.share = static_cast<unsigned>(ShareOf(bytes, 1));
    for (const auto& piece : pieces) {
      if (wanted(piece)) AddTo(few, {piece.dst, piece.src, piece.size});
    }
    if (few.count > 0) Launch(few);
  }
  // What a warp gets at a time, when each is to get `parts` of `bytes` in all.
  size_t ShareOf(size_t bytes, size_t parts) const;
  void AddTo(FewPieces& few, const KernelPiece& piece);
  void Launch(FewPieces& few);
  // `beside`: beside the slice in front, where the GPU can.
  void Launch(CUfunction kernel, size_t blocks, void** arguments, bool beside);
  void BeginMove(size_t pieces, size_t bytes);
  void AddPiece(void* dst, const void* src, size_t size) {
    if (size > share_ || list_length_ >= list_room_) return AddSlowly(dst, src, size);
    List()[list_length_++] = {dst, src, size};
  }
  // What needs cutting, another list or a copy engine.
  void AddSlowly(void* dst, const void* src, size_t size);
  void BeginList(size_t room);
  // Launches the list that was written behind list_start_, when there is one.
  void LaunchList();
  KernelPiece* List() { return reinterpret_cast<KernelPiece*>(staging_ + list_start_); }

  const Gpu* gpu_;
  CUstream stream_ = nullptr;
  CUstream reading_ = nullptr;  // for reads that need not wait for stream_
  std::vector<KernelPiece> collected_;
  size_t collected_bytes_ = 0;
  std::vector<Range> writes_;  // since the last Wait
  bool writes_anywhere_ = false;
  bool busy_ = false;  // something was issued since the last Wait
  // Lists and words that the GPU reads from here, until the next Wait.
  char* staging_ = nullptr;
  size_t used_ = 0;
  size_t list_start_ = 0;  // of the list that is being written
  size_t list_length_ = 0;
  size_t list_room_ = 0;         // 0 when there is no list
  size_t share_ = 0;             // how it is cut
  bool slice_in_front_ = false;  // the last thing on the stream is another slice of it
  CUresult first_failure_ = CUDA_SUCCESS;
};

}  // namespace ropeway::cuda
