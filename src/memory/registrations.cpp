#include "memory/registrations.h"

#include <algorithm>

namespace ropeway {
namespace {

// The first of `count` things behind `address`, by the word that tells where each begins.
template <typename Begin>
size_t UpperBound(size_t count, uintptr_t address, Begin begin) {
  size_t low = 0;
  while (count > 0) {
    const size_t half = count / 2;
    const bool right = begin(low + half) <= address;
    low = right ? low + half + 1 : low;
    count = right ? count - half - 1 : half;
  }
  return low;
}

}  // namespace

Registration Registrations::Entry::Read() const {
  return {base.load(std::memory_order_acquire), size.load(std::memory_order_acquire), alias.load(std::memory_order_acquire)};
}

void Registrations::Entry::Write(const Registration& registration) {
  base.store(registration.base, std::memory_order_release);
  size.store(registration.size, std::memory_order_release);
  alias.store(registration.alias, std::memory_order_release);
}

// Everything is loaded with acquire and stored with release: who reads a word of a later change also sees the odd version in front of it.
Registration Registrations::Find(const void* address) const {
  if (count_.load(std::memory_order_acquire) == 0) return Registration();
  const auto bits = reinterpret_cast<uintptr_t>(address);
  for (;;) {
    const uint32_t before = version_.load(std::memory_order_acquire);
    // The count first: a list that is loaded behind it has at least as many places.
    const size_t leaves = leaves_.load(std::memory_order_acquire);
    const Place* places = places_.load(std::memory_order_acquire);
    Registration found;
    if (const size_t behind = UpperBound(leaves, bits, [&](size_t i) { return places[i].first.load(std::memory_order_acquire); })) {
      const Leaf& leaf = *places[behind - 1].leaf.load(std::memory_order_acquire);
      const size_t count = leaf.count.load(std::memory_order_acquire);
      const size_t next = UpperBound(count, bits, [&](size_t i) { return leaf.entries[i].base.load(std::memory_order_acquire); });
      if (next > 0) found = leaf.entries[next - 1].Read();
    }
    if ((before & 1) != 0 || version_.load(std::memory_order_relaxed) != before) continue;
    return bits - found.base < found.size ? found : Registration();
  }
}

// --- Writers ------------------------------------------------------------------------------------------------------------

bool Registrations::LastUpTo(uintptr_t address, Position* position) const {
  const Place* places = places_.load(std::memory_order_relaxed);
  const size_t behind = UpperBound(leaves_.load(std::memory_order_relaxed), address,
                                   [&](size_t i) { return places[i].first.load(std::memory_order_relaxed); });
  if (behind == 0) return false;
  const Leaf& leaf = LeafAt(behind - 1);
  const size_t next = UpperBound(leaf.count.load(std::memory_order_relaxed), address,
                                 [&](size_t i) { return leaf.entries[i].base.load(std::memory_order_relaxed); });
  *position = {behind - 1, next - 1};  // the first entry of the leaf is not behind the address
  return true;
}

bool Registrations::FirstFrom(uintptr_t address, Position* position) const {
  if (leaves_.load(std::memory_order_relaxed) == 0) return false;
  *position = {0, 0};
  if (address == 0 || !LastUpTo(address - 1, position)) return true;
  if (++position->index < LeafAt(position->leaf).count.load(std::memory_order_relaxed)) return true;
  *position = {position->leaf + 1, 0};
  return position->leaf < leaves_.load(std::memory_order_relaxed);
}

// So that the change itself needs no memory: a leaf to split into, and a place for it.
void Registrations::KeepSpares() {
  if (spare_.empty()) {
    spare_.reserve(owned_.size() + 1);  // all of them may come back
    owned_.push_back(std::make_unique<Leaf>());
    spare_.push_back(owned_.back().get());
  }
  const size_t leaves = leaves_.load(std::memory_order_relaxed);
  if (leaves < capacity_) return;
  const size_t capacity = std::max<size_t>(16, 2 * capacity_);
  auto list = std::make_unique<Place[]>(capacity);
  lists_.reserve(lists_.size() + 1);
  const Place* old = places_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < leaves; ++i) {
    list[i].first.store(old[i].first.load(std::memory_order_relaxed), std::memory_order_relaxed);
    list[i].leaf.store(old[i].leaf.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  lists_.push_back(std::move(list));
  places_.store(lists_.back().get(), std::memory_order_release);
  capacity_ = capacity;
}

bool Registrations::Add(const Registration& registration) {
  LockGuard lock(mutex_);
  Position position{};
  if (LastUpTo(registration.base, &position) && At(position).end() > registration.base) return false;
  if (FirstFrom(registration.base, &position) && At(position).base < registration.end()) return false;
  KeepSpares();
  version_.fetch_add(1, std::memory_order_acq_rel);
  Insert(registration);
  count_.fetch_add(1, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
  return true;
}

void Registrations::Insert(const Registration& registration) {
  Position position{0, 0};
  if (leaves_.load(std::memory_order_relaxed) == 0) {
    Leaf* leaf = spare_.back();
    spare_.pop_back();
    InsertPlace(0, leaf);
  } else if (LastUpTo(registration.base, &position)) {
    ++position.index;
  }
  if (LeafAt(position.leaf).count.load(std::memory_order_relaxed) == kLeaf) {
    const size_t kept = Split(position.leaf);
    if (position.index > kept) position = {position.leaf + 1, position.index - kept};
  }
  Leaf& leaf = LeafAt(position.leaf);
  const size_t count = leaf.count.load(std::memory_order_relaxed);
  for (size_t i = count; i > position.index; --i) leaf.entries[i].Write(leaf.entries[i - 1].Read());
  leaf.entries[position.index].Write(registration);
  leaf.count.store(count + 1, std::memory_order_release);
  if (position.index == 0) places_.load(std::memory_order_relaxed)[position.leaf].first.store(registration.base, std::memory_order_release);
}

// Its upper half goes into a leaf behind it; returns how many stay. Ranges that come in order of address, as those of a pool do, fill
// their leaves: then only the last one goes.
size_t Registrations::Split(size_t index) {
  const bool last = index + 1 == leaves_.load(std::memory_order_relaxed);
  const size_t kept = last ? kLeaf - 1 : kLeaf / 2;
  Leaf& leaf = LeafAt(index);
  Leaf* upper = spare_.back();
  spare_.pop_back();
  for (size_t i = kept; i < kLeaf; ++i) upper->entries[i - kept].Write(leaf.entries[i].Read());
  upper->count.store(kLeaf - kept, std::memory_order_release);
  leaf.count.store(kept, std::memory_order_release);
  InsertPlace(index + 1, upper);
  return kept;
}

void Registrations::InsertPlace(size_t index, Leaf* leaf) {
  Place* places = places_.load(std::memory_order_relaxed);
  const size_t leaves = leaves_.load(std::memory_order_relaxed);
  for (size_t i = leaves; i > index; --i) {
    places[i].first.store(places[i - 1].first.load(std::memory_order_relaxed), std::memory_order_release);
    places[i].leaf.store(places[i - 1].leaf.load(std::memory_order_relaxed), std::memory_order_release);
  }
  places[index].first.store(leaf->entries[0].base.load(std::memory_order_relaxed), std::memory_order_release);
  places[index].leaf.store(leaf, std::memory_order_release);
  leaves_.store(leaves + 1, std::memory_order_release);
}

void Registrations::RemovePlace(size_t index) {
  Place* places = places_.load(std::memory_order_relaxed);
  const size_t leaves = leaves_.load(std::memory_order_relaxed) - 1;
  spare_.push_back(places[index].leaf.load(std::memory_order_relaxed));
  for (size_t i = index; i < leaves; ++i) {
    places[i].first.store(places[i + 1].first.load(std::memory_order_relaxed), std::memory_order_release);
    places[i].leaf.store(places[i + 1].leaf.load(std::memory_order_relaxed), std::memory_order_release);
  }
  leaves_.store(leaves, std::memory_order_release);
}

Registration Registrations::RemoveAt(const Position& position) {
  const Registration removed = At(position);
  Leaf& leaf = LeafAt(position.leaf);
  version_.fetch_add(1, std::memory_order_acq_rel);
  const size_t count = leaf.count.load(std::memory_order_relaxed) - 1;
  for (size_t i = position.index; i < count; ++i) leaf.entries[i].Write(leaf.entries[i + 1].Read());
  leaf.count.store(count, std::memory_order_release);
  if (count == 0) {
    RemovePlace(position.leaf);
  } else if (position.index == 0) {
    places_.load(std::memory_order_relaxed)[position.leaf].first.store(leaf.entries[0].base.load(std::memory_order_relaxed),
                                                                       std::memory_order_release);
  }
  count_.fetch_sub(1, std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
  return removed;
}

Registration Registrations::Remove(uintptr_t base) {
  LockGuard lock(mutex_);
  Position position{};
  if (!LastUpTo(base, &position) || At(position).base != base) return Registration();
  return RemoveAt(position);
}

Registration Registrations::RemoveOneInside(uintptr_t base, size_t size) {
  if (count() == 0) return Registration();
  LockGuard lock(mutex_);
  Position position{};
  if (!FirstFrom(base, &position) || At(position).end() > base + size) return Registration();
  return RemoveAt(position);
}

}  // namespace ropeway
