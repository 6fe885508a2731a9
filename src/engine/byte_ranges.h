// A set of bytes as few ranges in order of address, in a fixed space: enough to ask of each copy of a loop whether it touches those in
// front of it. Neighbours become one range, so a walk through memory needs one, however long it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ropeway {

class ByteRanges {
 public:
  static constexpr size_t kMost = 256;

  bool Touches(const void* address, size_t size) const {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
    const size_t at = FirstEndingFrom(begin + 1);
    return at < count_ && ranges_[at].begin < begin + size;
  }
  // False: there is no room for one more.
  bool Add(const void* address, size_t size) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
    return AddAt(FirstEndingFrom(begin), {begin, begin + size});
  }
  // The same for bytes that are not in the set; false when some are.
  bool AddNew(const void* address, size_t size) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
    const size_t at = FirstEndingFrom(begin);
    const size_t behind = at < count_ && ranges_[at].end == begin ? at + 1 : at;
    if (behind < count_ && ranges_[behind].begin < begin + size) return false;
    return AddAt(at, {begin, begin + size});
  }
  size_t count() const { return count_; }

 private:
  struct Range {
    uintptr_t begin, end;
  };
  size_t FirstEndingFrom(uintptr_t address) const {
    if (count_ == 0 || ranges_[count_ - 1].end < address) return count_;  // most loops go upwards
    size_t first = 0;
    for (size_t left = count_; left > 1;) {  // a search without branches: where blocks are scattered, none could be predicted
      const size_t half = left / 2;
      first += ranges_[first + half - 1].end < address ? half : 0;
      left -= half;
    }
    return first;
  }
  // `at`: the first range that the new one does not lie behind.
  bool AddAt(size_t at, Range added) {
    size_t end = at;  // of those that it grows together with
    while (end < count_ && ranges_[end].begin <= added.end) ++end;
    if (end == at) return Insert(at, added);
    ranges_[at] = {std::min(added.begin, ranges_[at].begin), std::max(added.end, ranges_[end - 1].end)};
    if (end > at + 1) std::copy(ranges_ + end, ranges_ + count_, ranges_ + at + 1);
    count_ -= end - at - 1;
    return true;
  }
  bool Insert(size_t at, Range range) {
    if (count_ == kMost) return false;
    std::copy_backward(ranges_ + at, ranges_ + count_, ranges_ + count_ + 1);
    ranges_[at] = range;
    ++count_;
    return true;
  }

  size_t count_ = 0;
  Range ranges_[kMost];  // apart from each other
};

}  // namespace ropeway
