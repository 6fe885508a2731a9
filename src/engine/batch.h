// Many copies as one task. A batch owns a compact copy of what the caller asked for: 24 bytes a piece, in one allocation.
#pragma once

#include <cstddef>
#include <vector>

namespace ropeway {

struct Piece {
  void* dst;
  const void* src;
  size_t size;
};

class Batch {
 public:
  explicit Batch(size_t most_pieces) { pieces_.reserve(most_pieces); }

  // Neighbours on both sides become one piece, unless they lie in different blocks (`may_merge`): each of those may be freed alone.
  void Add(void* dst, const void* src, size_t size, bool may_merge = true) {
    bytes_ += size;
    if (may_merge && !pieces_.empty()) {
      Piece& last = pieces_.back();
      if (static_cast<char*>(last.dst) + last.size == dst && static_cast<const char*>(last.src) + last.size == src &&
          pieces_.size() > sealed_) {
        last.size += size;
        return;
      }
    }
    pieces_.push_back({dst, src, size});
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

  const std::vector<Piece>& pieces() const { return pieces_; }
  size_t bytes() const { return bytes_; }
  bool empty() const { return pieces_.empty(); }

 private:
  std::vector<Piece> pieces_;
  size_t bytes_ = 0;
  size_t sealed_ = 0;
  size_t sealed_bytes_ = 0;
};

}  // namespace ropeway
