// Private memory that becomes shared while it is in use. Device memory is private at first: that is the only kind that gets huge
// pages on every system. When another process shall have some of it, its bytes move into pages and these take its place.
//
// The move must not lose a write. While the bytes are copied the old memory is read-only, so a writer faults; the signal handler
// waits for the end of the move, and the write is done again, into the pages. Readers never notice.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "engine/cpu/huge_pages.h"
#include "engine/cpu/memfd_pages.h"

namespace ropeway::cpu {

class SharedChunks {
 public:
  // The pages of [view, view + size), which are made at the first call. Null: no memory for them, and nothing has changed.
  std::shared_ptr<MemfdPages> Share(void* view, size_t size);
  // What of [view, view + size) is shared becomes fresh private memory; the rest stays as it is.
  void Restore(void* view, size_t size);
  // Returns when no memory is being moved. Async-signal-safe.
  void AwaitMove() const;

 private:
  struct Shared {
    size_t size;
    std::shared_ptr<MemfdPages> pages;
  };
  bool Move(char* view, size_t size, const MemfdPages& pages);

  Mutex mutex_{LockRank::kSharedChunks};
  std::map<uintptr_t, Shared> shared_ RW_GUARDED_BY(mutex_);  // by view
  std::atomic<size_t> count_{0};
  std::atomic<bool> moving_{false};
  HugePages huge_pages_;
};

}  // namespace ropeway::cpu
