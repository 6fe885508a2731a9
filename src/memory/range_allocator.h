// Hands out ranges of a number line: best fit, lowest address among equals, neighbours joined on return. Callers
// serialise.
//
// Giving a range back needs no memory: for every range that is out, the nodes that its return may need are kept ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ropeway {

class RangeAllocator {
 public:
  // Adds new ground; may throw.
  void Add(uintptr_t base, size_t size);
  // `size` bytes, aligned to `alignment` (a power of two that divides the addresses of all ranges that matter). Throws without effect when
  // there is no memory.
  std::optional<uintptr_t> Take(size_t size, size_t alignment);
  // Exactly this range; false when a part of it is not free. Throws as Take.
  bool TakeAt(uintptr_t base, size_t size);
  // Gives back what was taken, in one piece as it was.
  void Return(uintptr_t base, size_t size) noexcept;

 private:
  using ByAddress = std::map<uintptr_t, size_t>;
  using BySize = std::set<std::pair<size_t, uintptr_t>>;

  // Free ranges are never more than those that are out and the pieces of ground together, so with that many nodes neither taking nor
  // returning needs a new one.
  void KeepNodesReady(size_t pieces);
  void Cut(ByAddress::iterator it, uintptr_t base, size_t size);
  void Join(uintptr_t base, size_t size) noexcept;
  void Insert(uintptr_t base, size_t size) noexcept;
  void Erase(ByAddress::iterator it) noexcept;

  ByAddress by_address_;
  BySize by_size_;
  std::vector<ByAddress::node_type> spare_addresses_;
  std::vector<BySize::node_type> spare_sizes_;
  size_t pieces_ = 0;  // ranges that are out, and pieces of ground
};

}  // namespace ropeway
