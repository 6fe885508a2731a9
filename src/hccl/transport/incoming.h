// Bytes that have come over a connection and are not taken yet. They are received straight into it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace ropeway::comm {

class Incoming {
 public:
  // Where up to `size` more bytes go; Came tells how many did.
  char* Room(size_t size) {
    if (begin_ == end_) begin_ = end_ = 0;
    if (capacity_ - end_ < size) MakeRoom(size);
    return bytes_.get() + end_;
  }
  void Came(size_t size) { end_ += size; }
  void Append(const char* bytes, size_t size) {
    std::memcpy(Room(size), bytes, size);
    Came(size);
  }

  std::string_view bytes() const { return {bytes_.get() + begin_, size()}; }
  size_t size() const { return end_ - begin_; }
  // The first ones are taken.
  void Drop(size_t size) { begin_ += size; }

 private:
  void MakeRoom(size_t size) {
    const size_t held = end_ - begin_;
    if (capacity_ - held >= size) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    } else {
      Enlarge(held, std::max(2 * held, held + size));
    }
    begin_ = 0;
    end_ = held;
  }
  void Enlarge(size_t held, size_t capacity) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (held > 0) std::memcpy(larger.get(), bytes_.get() + begin_, held);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace ropeway::comm
