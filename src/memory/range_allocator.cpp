#include "memory/range_allocator.h"

#include <algorithm>
#include <iterator>

namespace ropeway {
namespace {

template <typename Tree, typename Nodes, typename Any>
void KeepReady(const Tree& tree, Nodes& spare, size_t nodes, const Any& any) {
  if (spare.capacity() < nodes) spare.reserve(std::max(nodes, 2 * spare.capacity()));
  while (tree.size() + spare.size() < nodes) {
    Tree one;
    one.insert(any);
    spare.push_back(one.extract(one.begin()));
  }
}

template <typename Nodes>
auto TakeLast(Nodes& spare) {
  auto node = std::move(spare.back());
  spare.pop_back();
  return node;
}

}  // namespace

void RangeAllocator::KeepNodesReady(size_t pieces) {
  KeepReady(by_address_, spare_addresses_, pieces, std::pair<const uintptr_t, size_t>());
  KeepReady(by_size_, spare_sizes_, pieces, std::pair<size_t, uintptr_t>());
}

void RangeAllocator::Insert(uintptr_t base, size_t size) noexcept {
  if (size == 0) return;
  auto by_address = TakeLast(spare_addresses_);
  by_address.key() = base;
  by_address.mapped() = size;
  by_address_.insert(std::move(by_address));
  auto by_size = TakeLast(spare_sizes_);
  by_size.value() = {size, base};
  by_size_.insert(std::move(by_size));
}

void RangeAllocator::Erase(ByAddress::iterator it) noexcept {
  spare_sizes_.push_back(by_size_.extract({it->second, it->first}));
  spare_addresses_.push_back(by_address_.extract(it));
}

void RangeAllocator::Add(uintptr_t base, size_t size) {
  KeepNodesReady(pieces_ + 1);
  ++pieces_;
  Join(base, size);
}

void RangeAllocator::Return(uintptr_t base, size_t size) noexcept {
  Join(base, size);
  --pieces_;
}

void RangeAllocator::Join(uintptr_t base, size_t size) noexcept {
  auto next = by_address_.lower_bound(base);
  if (next != by_address_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == base) {
      base = before->first;
      size += before->second;
      Erase(before);
    }
  }
  if (next != by_address_.end() && next->first == base + size) {
    size += next->second;
    Erase(next);
  }
  Insert(base, size);
}

std::optional<uintptr_t> RangeAllocator::Take(size_t size, size_t alignment) {
  for (auto it = by_size_.lower_bound({size, 0}); it != by_size_.end(); ++it) {
    const auto [free_size, free_base] = *it;
    const uintptr_t base = (free_base + alignment - 1) & ~(uintptr_t{alignment} - 1);
    if (base + size > free_base + free_size) continue;
    Cut(by_address_.find(free_base), base, size);
    return base;
  }
  return std::nullopt;
}

bool RangeAllocator::TakeAt(uintptr_t base, size_t size) {
  auto it = by_address_.upper_bound(base);
  if (it == by_address_.begin()) return false;
  --it;
  if (base - it->first > it->second || size > it->second - (base - it->first)) return false;
  Cut(it, base, size);
  return true;
}

void RangeAllocator::Cut(ByAddress::iterator it, uintptr_t base, size_t size) {
  KeepNodesReady(pieces_ + 1);
  ++pieces_;
  const auto [free_base, free_size] = *it;
  Erase(it);
  Insert(free_base, base - free_base);
  Insert(base + size, free_base + free_size - (base + size));
}

}  // namespace ropeway
