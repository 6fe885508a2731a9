#include "stream/submitter_log.h"

#include <algorithm>

namespace ropeway {

void SubmitterLog::Change(uint64_t first, uint32_t thread, uint64_t completed) {
  LockGuard lock(mutex_);
  if (entries_.size() == entries_.capacity()) {
    ForgetUpTo(completed);
    // Room for as many as there are: the next look at what can go is that far away, so that all of them together cost little.
    entries_.reserve(2 * entries_.size() + 4);
  }
  entries_.push_back({first, thread});
}

// The last entry that begins at or before the next task stays.
void SubmitterLog::ForgetUpTo(uint64_t completed) {
  const auto later = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.first > completed + 1; });
  if (later - entries_.begin() > 1) entries_.erase(entries_.begin(), later - 1);
}

uint32_t SubmitterLog::ThreadOf(uint64_t sequence) const {
  LockGuard lock(mutex_);
  const auto entry = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& candidate) { return candidate.first <= sequence; });
  return entry == entries_.rend() ? kUnknown : entry->thread;
}

void SubmitterLog::Clear() {
  LockGuard lock(mutex_);
  entries_.clear();
}

}  // namespace ropeway
