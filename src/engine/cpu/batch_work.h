// The pieces of a batch, dealt out in portions of at most about kPortion bytes: many small pieces, or a part of a large one.
#pragma once

#include <algorithm>

#include "base/host_touch.h"
#include "base/mutex.h"
#include "engine/batch.h"
#include "engine/cpu/address_space.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cpu {

class BatchWork final : public sched::SharedWork {
 public:
  // Small enough that the last portion does not keep the others waiting, large enough that the lock does not matter.
  static constexpr size_t kPortion = size_t{256} << 10;

  BatchWork(const Batch& batch, const AddressSpace& addresses, const CopyKernels& kernels, bool streaming, size_t portion = kPortion)
      : pieces_(batch.pieces()), addresses_(addresses), kernels_(kernels), streaming_(streaming), portion_(portion), bytes_(batch.bytes()) {
  }
  // Of so many bytes, for so many lanes: a few for each, so that all of them end at about the same time.
  static size_t PortionFor(size_t bytes, size_t lanes) { return std::clamp(bytes / (8 * lanes), kPortion / 8, kPortion); }

  bool RunPortion() override {
    Cursor from, to;
    {
      LockGuard lock(lock_);
      from = next_;
      Advance(&next_);
      to = next_;
    }
    if (from.piece == pieces_.size()) return false;
    auto move = [&] { CopyBetween(from, to); };
    const void* fault;
    if (!TouchHost(move, &fault)) [[unlikely]]
      EndAt(fault);
    return true;
  }
  bool AllTaken() const override {
    LockGuard lock(lock_);
    return next_.piece == pieces_.size();
  }
  size_t Portions() const override { return bytes_ / portion_ + 1; }
  // Whether some of it is memory that is not there, and where; asked when the work is over.
  bool Faulted(const void** fault) const {
    LockGuard lock(lock_);
    *fault = fault_;
    return faulted_;
  }

 private:
  struct Cursor {
    size_t piece = 0;
    size_t offset = 0;
  };

  void Advance(Cursor* cursor) const {
    for (size_t room = portion_; cursor->piece < pieces_.size();) {
      const size_t left = pieces_[cursor->piece].size - cursor->offset;
      // A tail that is not worth a portion of its own goes along.
      if (left > room + portion_ / 2) {
        cursor->offset += room;
        return;
      }
      ++cursor->piece;
      cursor->offset = 0;
      if (left >= room) return;
      room -= left;
    }
  }

  // The portions that nobody has taken are left undone.
  [[gnu::cold]] void EndAt(const void* fault) {
    LockGuard lock(lock_);
    next_ = {pieces_.size(), 0};
    faulted_ = true;
    fault_ = fault;
  }

  void CopyBetween(Cursor from, Cursor to) const {
    for (size_t i = from.piece, offset = from.offset; i < to.piece || (i == to.piece && to.offset > offset); ++i, offset = 0) {
      const Piece& piece = pieces_[i];
      if (i + 1 < pieces_.size()) kernels_.Prefetch(addresses_.View(pieces_[i + 1].src), pieces_[i + 1].size);
      const size_t end = i == to.piece ? to.offset : piece.size;
      auto* dst = static_cast<char*>(addresses_.View(piece.dst)) + offset;
      auto* src = static_cast<const char*>(addresses_.View(piece.src)) + offset;
      streaming_ ? kernels_.Stream(dst, src, end - offset) : kernels_.Cached(dst, src, end - offset);
      if (i == to.piece) return;
    }
  }

  const Batch::Pieces& pieces_;
  const AddressSpace& addresses_;
  const CopyKernels& kernels_;
  const bool streaming_;
  const size_t portion_;
  const size_t bytes_;
  mutable SpinLock lock_{LockRank::kBatchWork};
  Cursor next_ RW_GUARDED_BY(lock_);
  bool faulted_ RW_GUARDED_BY(lock_) = false;
  const void* fault_ RW_GUARDED_BY(lock_) = nullptr;
};

}  // namespace ropeway::cpu
