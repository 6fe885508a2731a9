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
  // Adds [base, base + size) to what is free, joined with free neighbours; returns the joined range.
  std::pair<uintptr_t, size_t> Add(uintptr_t base, size_t size);
  // `size` bytes, aligned to `alignment` (a power of two that divides the addresses of all ranges that matter).
  std::optional<uintptr_t> Take(size_t size, size_t alignment);
  // Exactly this range; false when a part of it is not free.
  bool TakeAt(uintptr_t base, size_t size);
  // Takes a range that is known to be free.
  void Remove(uintptr_t base, size_t size);

 private:
  void Insert(uintptr_t base, size_t size);
  void Erase(std::map<uintptr_t, size_t>::iterator it);

  std::map<uintptr_t, size_t> by_address_;
  std::set<std::pair<size_t, uintptr_t>> by_size_;
};

}  // namespace ropeway
