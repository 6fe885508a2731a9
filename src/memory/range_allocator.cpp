#include "memory/range_allocator.h"

#include <iterator>

namespace ropeway {

void RangeAllocator::Insert(uintptr_t base, size_t size) {
  if (size == 0) return;
  by_address_.emplace(base, size);
  by_size_.emplace(size, base);
}

void RangeAllocator::Erase(std::map<uintptr_t, size_t>::iterator it) {
  by_size_.erase({it->second, it->first});
  by_address_.erase(it);
}

std::pair<uintptr_t, size_t> RangeAllocator::Add(uintptr_t base, size_t size) {
  auto next = by_address_.lower_bound(base);
  if (next != by_address_.begin() && Joins(base)) {
    auto before = std::prev(next);
    if (before->first + before->second == base) {
      base = before->first;
      size += before->second;
      Erase(before);
    }
  }
  if (next != by_address_.end() && next->first == base + size && Joins(base + size)) {
    size += next->second;
    Erase(next);
  }
  Insert(base, size);
  return {base, size};
}

std::optional<uintptr_t> RangeAllocator::Take(size_t size, size_t alignment) {
  for (auto it = by_size_.lower_bound({size, 0}); it != by_size_.end(); ++it) {
    const auto [free_size, free_base] = *it;
    const uintptr_t base = (free_base + alignment - 1) & ~(uintptr_t{alignment} - 1);
    if (base + size > free_base + free_size) continue;
    Remove(base, size);
    return base;
  }
  return std::nullopt;
}

bool RangeAllocator::TakeAt(uintptr_t base, size_t size) {
  auto it = by_address_.upper_bound(base);
  if (it == by_address_.begin()) return false;
  --it;
  if (base - it->first > it->second || size > it->second - (base - it->first)) return false;
  Remove(base, size);
  return true;
}

void RangeAllocator::Remove(uintptr_t base, size_t size) {
  auto it = std::prev(by_address_.upper_bound(base));
  const auto [free_base, free_size] = *it;
  Erase(it);
  Insert(free_base, base - free_base);
  Insert(base + size, free_base + free_size - (base + size));
}

}  // namespace ropeway
