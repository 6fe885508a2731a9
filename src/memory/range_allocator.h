// Hands out ranges of a number line: best fit, lowest address among equals, neighbours joined on return. Callers
// serialise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ropeway {

class RangeAllocator {
 public:
  // Ranges are not joined across multiples of `boundary`, so that none that is handed out lies across one; 0: no boundary.
  explicit RangeAllocator(size_t boundary = 0) : boundary_(boundary) {}
  // Adds [base, base + size) to what is free, joined with free neighbours; returns the joined range.
  std::pair<uintptr_t, size_t> Add(uintptr_t base, size_t size);
  // `size` bytes, aligned to `alignment` (a power of two that divides the addresses of all ranges that matter).
  std::optional<uintptr_t> Take(size_t size, size_t alignment);
  // Exactly this range; false when a part of it is not free.
  bool TakeAt(uintptr_t base, size_t size);
  // Takes a range that is known to be free.
  void Remove(uintptr_t base, size_t size);

 private:
  bool Joins(uintptr_t address) const { return boundary_ == 0 || address % boundary_ != 0; }
  void Insert(uintptr_t base, size_t size);
  void Erase(std::map<uintptr_t, size_t>::iterator it);

  const size_t boundary_;
  std::map<uintptr_t, size_t> by_address_;
  std::set<std::pair<size_t, uintptr_t>> by_size_;
};

}  // namespace ropeway
