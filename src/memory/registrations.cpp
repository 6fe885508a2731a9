#include "memory/registrations.h"

#include <algorithm>
#include <iterator>

namespace ropeway {

Registration Registrations::At(const Entry* entries, size_t index) const {
  return {entries[index].base.load(std::memory_order_acquire), entries[index].size.load(std::memory_order_acquire),
          entries[index].alias.load(std::memory_order_acquire)};
}

size_t Registrations::UpperBound(const Entry* entries, size_t count, uintptr_t address) const {
  size_t low = 0;
  while (count > 0) {
    const size_t half = count / 2;
    const bool right = entries[low + half].base.load(std::memory_order_acquire) <= address;
    low = right ? low + half + 1 : low;
    count = right ? count - half - 1 : half;
  }
  return low;
}

Registration Registrations::Find(const void* address) const {
  if (count_.load(std::memory_order_acquire) == 0) return Registration();
  const auto bits = reinterpret_cast<uintptr_t>(address);
  for (;;) {
    const uint32_t before = version_.load(std::memory_order_acquire);
    // The count first: an array that is loaded behind it has at least as many entries.
    const size_t count = count_.load(std::memory_order_acquire);
    const Entry* entries = entries_.load(std::memory_order_acquire);
    const size_t behind = UpperBound(entries, count, bits);
    const Registration found = behind > 0 ? At(entries, behind - 1) : Registration();
    if ((before & 1) != 0 || version_.load(std::memory_order_relaxed) != before) continue;
    return bits - found.base < found.size ? found : Registration();
  }
}

std::vector<Registration> Registrations::ReadAll() const {
  std::vector<Registration> all;
  const size_t count = count_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i) all.push_back(At(entries_.load(std::memory_order_relaxed), i));
  return all;
}

void Registrations::Put(Entry& entry, const Registration& registration) {
  entry.base.store(registration.base, std::memory_order_release);
  entry.size.store(registration.size, std::memory_order_release);
  entry.alias.store(registration.alias, std::memory_order_release);
}

void Registrations::Write(const std::vector<Registration>& all) {
  version_.fetch_add(1, std::memory_order_acq_rel);
  if (all.size() > capacity_) {
    capacity_ = std::max<size_t>(64, all.size() * 2);
    arrays_.push_back(std::make_unique<Entry[]>(capacity_));
    // Filled before it is shown: a reader may still use the old count with it.
    for (size_t i = 0; i < all.size(); ++i) Put(arrays_.back()[i], all[i]);
    entries_.store(arrays_.back().get(), std::memory_order_release);
  }
  Entry* entries = entries_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < all.size(); ++i) Put(entries[i], all[i]);
  count_.store(all.size(), std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
}

bool Registrations::Add(const Registration& registration) {
  std::lock_guard lock(mutex_);
  std::vector<Registration> all = ReadAll();
  auto next = std::lower_bound(all.begin(), all.end(), registration.base,
                               [](const Registration& entry, uintptr_t base) { return entry.base < base; });
  if (next != all.end() && next->base < registration.end()) return false;
  if (next != all.begin() && std::prev(next)->end() > registration.base) return false;
  all.insert(next, registration);
  Write(all);
  return true;
}

Registration Registrations::Remove(uintptr_t base) {
  std::lock_guard lock(mutex_);
  std::vector<Registration> all = ReadAll();
  auto it = std::find_if(all.begin(), all.end(), [base](const Registration& entry) { return entry.base == base; });
  if (it == all.end()) return Registration();
  const Registration removed = *it;
  all.erase(it);
  Write(all);
  return removed;
}

std::vector<Registration> Registrations::RemoveInside(uintptr_t base, size_t size) {
  std::lock_guard lock(mutex_);
  if (count() == 0) return {};
  std::vector<Registration> all = ReadAll();
  auto inside = [&](const Registration& entry) { return entry.base >= base && entry.end() <= base + size; };
  std::vector<Registration> removed;
  std::copy_if(all.begin(), all.end(), std::back_inserter(removed), inside);
  if (removed.empty()) return removed;
  all.erase(std::remove_if(all.begin(), all.end(), inside), all.end());
  Write(all);
  return removed;
}

}  // namespace ropeway
