#include "memory/managed_advice.h"

#include <algorithm>
#include <iterator>

namespace ropeway {
namespace {

// Narrows what holds so far to what holds for a further range, too.
void Narrow(Advice& all, const Advice& part) {
  all.read_mostly = all.read_mostly && part.read_mostly;
  if (all.preferred != part.preferred) all.preferred = ManagedPlace();
  if (all.prefetched != part.prefetched) all.prefetched = ManagedPlace();
  std::erase_if(all.accessed_by, [&](int32_t id) { return part.accessed_by.count(id) == 0; });
}

}  // namespace

void ManagedAdvice::SplitAt(uintptr_t address) {
  auto next = entries_.upper_bound(address);
  if (next == entries_.begin()) return;
  auto it = std::prev(next);
  if (it->first == address || it->second.end <= address) return;
  entries_.emplace_hint(next, address, it->second);
  it->second.end = address;
}

void ManagedAdvice::JoinAround(uintptr_t base, uintptr_t end) {
  auto it = entries_.lower_bound(base);
  if (it != entries_.begin()) --it;
  while (it != entries_.end() && it->first <= end) {
    auto next = std::next(it);
    if (it->second.advice == Advice()) {
      it = entries_.erase(it);
    } else if (next != entries_.end() && next->first == it->second.end && next->second.advice == it->second.advice) {
      it->second.end = next->second.end;
      entries_.erase(next);
    } else {
      it = next;
    }
  }
}

void ManagedAdvice::Change(uintptr_t base, size_t size, const std::function<void(Advice&)>& change) {
  const uintptr_t end = base + size;
  LockGuard lock(mutex_);
  SplitAt(base);
  SplitAt(end);
  // What will hold, with gaps as entries of their own, is complete before anything that holds is touched.
  Entries changed;
  for (uintptr_t at = base; at < end;) {
    const auto it = entries_.lower_bound(at);
    const bool said = it != entries_.end() && it->first == at;
    const uintptr_t gap_end = it == entries_.end() ? end : std::min(it->first, end);
    const auto made = changed.emplace_hint(changed.end(), at, said ? it->second : Entry{gap_end, Advice()});
    change(made->second.advice);
    at = made->second.end;
  }
  entries_.erase(entries_.lower_bound(base), entries_.lower_bound(end));
  entries_.merge(changed);
  JoinAround(base, end);
}

Advice ManagedAdvice::Read(uintptr_t base, size_t size) const {
  const uintptr_t end = base + size;
  LockGuard lock(mutex_);
  auto it = entries_.upper_bound(base);
  if (it != entries_.begin() && std::prev(it)->second.end > base) --it;
  if (it == entries_.end() || it->first > base) return Advice();  // nothing is said of the first byte
  Advice all = it->second.advice;
  uintptr_t covered = it->second.end;
  for (++it; covered < end && it != entries_.end() && it->first == covered; ++it) {
    Narrow(all, it->second.advice);
    covered = it->second.end;
  }
  return covered < end ? Advice() : all;
}

void ManagedAdvice::Forget(uintptr_t base, size_t size) {
  LockGuard lock(mutex_);
  SplitAt(base);
  SplitAt(base + size);
  entries_.erase(entries_.lower_bound(base), entries_.lower_bound(base + size));
}

}  // namespace ropeway
