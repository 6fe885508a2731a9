#include "engine/cpu/watched_chunks.h"

#include <sys/mman.h>

#include <algorithm>

namespace ropeway::cpu {

WatchedChunks::~WatchedChunks() {
  if (marks_ != nullptr) munmap(static_cast<void*>(marks_), size_ / kChunk + 1);
}

void WatchedChunks::Cover(const void* base, size_t size) {
  void* marks = mmap(nullptr, size / kChunk + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (marks == MAP_FAILED) return;
  marks_ = static_cast<Mark*>(marks);
  base_ = reinterpret_cast<uintptr_t>(base);
  size_ = size;
}

// Calls visit(mark) for each chunk that some of the range lies in, until one is refused by false; whether none was.
template <typename Visit>
bool WatchedChunks::ForEach(const void* address, size_t size, Visit visit) const {
  const uintptr_t first = reinterpret_cast<uintptr_t>(address) - base_;
  if (first >= size_ || size == 0) return true;
  const size_t last = std::min(first + size, size_) - 1;
  for (size_t chunk = first / kChunk; chunk <= last / kChunk; ++chunk) {
    if (!visit(marks_[chunk])) return false;
  }
  return true;
}

void WatchedChunks::Watch(const void* address, size_t size) {
  if (ForEach(address, size, [](const Mark& mark) { return mark.load(std::memory_order_acquire); })) return;
  const Volleys::Forbid settled(volleys_);
  ForEach(address, size, [](Mark& mark) {
    mark.store(true, std::memory_order_release);
    return true;
  });
}

void WatchedChunks::Forget(const void* address, size_t size) {
  ForEach(address, size, [](Mark& mark) {
    mark.store(false, std::memory_order_release);
    return true;
  });
}

}  // namespace ropeway::cpu
