// Many copies as one task. A batch owns a compact copy of what the caller asked for: 24 bytes a piece, in one allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engine/batch_rest.h"
#include "engine/part_order.h"

namespace ropeway {

// The memory of a thread's last batch, kept for its next one: the C library gives memory of this size back to the system as soon as it is
// free, and every batch would begin with page faults.
class BatchMemory {
 public:
  static void* Take(size_t bytes) {
    const size_t rounded = Rounded(bytes);
    BatchMemory& kept = Kept();
    if (kept.bytes_ == rounded) {
      kept.bytes_ = 0;
      return std::exchange(kept.block_, nullptr);
    }
    return ::operator new(rounded);
  }
  static void Return(void* block, size_t bytes) {
    const size_t rounded = Rounded(bytes);
    BatchMemory& kept = Kept();
    if (rounded < kSmallest || rounded > kLargest || kept.ended_) return ::operator delete(block);
    ::operator delete(std::exchange(kept.block_, block));
    kept.bytes_ = rounded;
  }
  ~BatchMemory() {
    ended_ = true;  // a batch may still be released behind this, at the end of the process
    bytes_ = 0;
    ::operator delete(std::exchange(block_, nullptr));
  }

 private:
  static constexpr size_t kSmallest = size_t{16} << 10, kLargest = size_t{4} << 20;
  // So that batches of about the same size find it; a large one takes what it needs and no more.
  static size_t Rounded(size_t bytes) { return bytes > kLargest ? bytes : std::bit_ceil(bytes); }
  static BatchMemory& Kept() {
    static thread_local BatchMemory kept;
    return kept;
  }
  void* block_ = nullptr;
  size_t bytes_ = 0;
  bool ended_ = false;
};

struct Piece {
  void* dst;
  const void* src;
  size_t size;
};

class Batch {
  // Leaves new pieces as they are: they are written at once, and clearing them first would cost as much again.
  struct PieceMemory {
    using value_type = Piece;
    template <typename U>
    struct rebind {
      using other = PieceMemory;
    };
    Piece* allocate(size_t count) { return static_cast<Piece*>(BatchMemory::Take(count * sizeof(Piece))); }
    void deallocate(Piece* pieces, size_t count) { BatchMemory::Return(pieces, count * sizeof(Piece)); }
    bool operator==(const PieceMemory&) const = default;
    void construct(Piece*) {}
    template <typename... Arguments>
    void construct(Piece* piece, Arguments&&... arguments) {
      new (piece) Piece{std::forward<Arguments>(arguments)...};
    }
  };

 public:
  using Pieces = std::vector<Piece, PieceMemory>;
  explicit Batch(size_t most_pieces) { pieces_.reserve(most_pieces); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    while (More()) {  // left half-way by a failure
    }
    if (rest_ != nullptr) rest_->Forget();
  }

  // Neighbours on both sides become one piece, unless they lie in different blocks (`may_merge`): each of those may be freed alone.
  void Add(void* dst, const void* src, size_t size, bool may_merge = true) {
    bytes_ += size;
    if (may_merge && !pieces_.empty()) {
      Piece& last = pieces_.back();
      if (static_cast<char*>(last.dst) + last.size == dst && static_cast<const char*>(last.src) + last.size == src &&
          pieces_.size() > sealed_) {
        last.size += size;
        unlike_ = 1;
        return;
      }
    }
    if (!pieces_.empty()) unlike_ |= size ^ pieces_.front().size;
    pieces_.push_back({dst, src, size});
  }
  // The same for many that lie in the same blocks as each other; `may_merge` is for the first.
  void AddRun(void* const* dsts, const void* const* srcs, const size_t* sizes, size_t count, bool may_merge) {
    if (count == 0) return;
    Add(dsts[0], srcs[0], sizes[0], may_merge);
    const size_t before = pieces_.size();
    pieces_.resize(before + count - 1);
    Piece* last = &pieces_[before - 1];
    // In registers: what is written to pieces could be any of the others.
    size_t bytes = bytes_;
    size_t unlike = unlike_;
    for (size_t i = 1; i < count; ++i) {
      const size_t size = sizes[i];
      bytes += size;
      unlike |= size ^ sizes[i - 1];
      if (static_cast<char*>(dsts[i - 1]) + sizes[i - 1] == dsts[i] && static_cast<const char*>(srcs[i - 1]) + sizes[i - 1] == srcs[i]) {
        last->size += size;
        unlike = 1;
      } else {
        *++last = {dsts[i], srcs[i], size};
      }
    }
    bytes_ = bytes;
    unlike_ = unlike;
    pieces_.resize(static_cast<size_t>(last - pieces_.data()) + 1);
  }
  // What is in the batch now stays as it is, so that Cut can come back to it.
  void Seal() {
    sealed_ = pieces_.size();
    sealed_bytes_ = bytes_;
  }
  // Forgets what came behind Seal.
  void CutToSeal() {
    pieces_.resize(sealed_);
    bytes_ = sealed_bytes_;
  }

  // The pieces that are there, in another order; none has come behind them.
  void Arrange(const PartOrder& order) {
    if (order.as_given()) return;
    const std::vector<Piece> given(pieces_.begin(), pieces_.end());
    for (size_t turn = 0; turn < given.size(); ++turn) pieces_[turn] = given[order[turn]];
  }

  // More pieces will come; what is there now stays as it is.
  void SetRest(std::shared_ptr<BatchRest> rest) {
    Seal();
    rest_ = std::move(rest);
  }
  // The one who runs a batch begins with this, before it looks at the pieces, and asks for more behind those that are there.
  void Begin() { has_more_ = rest_ != nullptr && rest_->Take(); }
  // False when all pieces have been there before.
  bool More() {
    if (!has_more_) return false;
    Seal();
    has_more_ = rest_->Next();
    return true;
  }

  // Behind Begin: what the whole batch will have when the pieces to come are like those that are there.
  size_t ExpectedBytes() const { return has_more_ ? bytes_ / pieces_.size() * pieces_.capacity() : bytes_; }

  const Pieces& pieces() const { return pieces_; }
  size_t bytes() const { return bytes_; }
  bool empty() const { return pieces_.empty(); }
  // What each piece has, where all have the same; else 0.
  size_t EvenSize() const { return unlike_ == 0 && !pieces_.empty() ? pieces_.front().size : 0; }

 private:
  Pieces pieces_;
  size_t bytes_ = 0;
  size_t unlike_ = 0;  // not 0: pieces of different sizes may be among them
  size_t sealed_ = 0;
  size_t sealed_bytes_ = 0;
  std::shared_ptr<BatchRest> rest_;  // the submitter has it, too
  bool has_more_ = false;
};

}  // namespace ropeway
