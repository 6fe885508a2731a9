// The pieces of a batch, in portions.
#pragma once

#include <algorithm>

#include "engine/batch.h"
#include "engine/cpu/address_space.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/portion_work.h"

namespace ropeway::cpu {

class BatchItems {
 public:
  static constexpr size_t kCut = 1;

  BatchItems(const Batch& batch, const AddressSpace& addresses, const CopyKernels& kernels, bool streaming)
      : pieces_(batch.pieces()), even_size_(batch.EvenSize()), addresses_(addresses), kernels_(kernels), streaming_(streaming) {}

  size_t count() const { return pieces_.size(); }
  size_t EvenSize() const { return even_size_; }
  size_t SizeOf(size_t i) const { return pieces_[i].size; }
  void Move(PortionCursor from, PortionCursor to) const {
    for (size_t i = from.item, offset = from.offset; i < to.item || (i == to.item && to.offset > offset); ++i, offset = 0) {
      const Piece& piece = pieces_[i];
      if (i + 1 < pieces_.size()) kernels_.Prefetch(addresses_.View(pieces_[i + 1].src), pieces_[i + 1].size);
      const size_t end = i == to.item ? to.offset : piece.size;
      auto* dst = static_cast<char*>(addresses_.View(piece.dst)) + offset;
      auto* src = static_cast<const char*>(addresses_.View(piece.src)) + offset;
      streaming_ ? kernels_.Stream(dst, src, end - offset) : kernels_.Cached(dst, src, end - offset);
    }
  }

 private:
  const Batch::Pieces& pieces_;
  const size_t even_size_;
  const AddressSpace& addresses_;
  const CopyKernels& kernels_;
  const bool streaming_;
};

class BatchWork final : public PortionWork<BatchItems> {
 public:
  // Small enough that the last portion does not keep the others waiting, large enough that the lock does not matter.
  static constexpr size_t kPortion = size_t{256} << 10;

  BatchWork(const Batch& batch, const AddressSpace& addresses, const CopyKernels& kernels, bool streaming, size_t portion = kPortion)
      : PortionWork({batch, addresses, kernels, streaming}, batch.bytes(), portion) {}
  // Of so many bytes, for so many lanes: a few for each, so that all of them end at about the same time.
  static size_t PortionFor(size_t bytes, size_t lanes) { return std::clamp(bytes / (8 * lanes), kPortion / 8, kPortion); }
};

}  // namespace ropeway::cpu
