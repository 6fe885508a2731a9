// Which device memory somebody outside of the engine may be looking at: another process, the program through a view, a second address of
// the same pages. Bytes of the rest can come in any order, as long as they are there when their task is complete.
//
// One byte for each 2 MiB. A mark is set before anybody can look, while no volley is open; it goes when the memory is given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/volley.h"

namespace ropeway::cpu {

class WatchedChunks {
 public:
  explicit WatchedChunks(Volleys& volleys) : volleys_(volleys) {}
  ~WatchedChunks();
  WatchedChunks(const WatchedChunks&) = delete;
  WatchedChunks& operator=(const WatchedChunks&) = delete;

  // The device addresses; before this, and where the process has no room for the marks, all memory counts as watched.
  void Cover(const void* base, size_t size);
  void Watch(const void* address, size_t size);
  // The memory is nobody's any more.
  void Forget(const void* address, size_t size);
  // Device memory that only tasks use, from the first byte to the last. Asked while a volley is open.
  bool Private(const void* address, size_t size) const {
    const uintptr_t first = reinterpret_cast<uintptr_t>(address) - base_;
    if (first >= size_) return false;
    for (size_t chunk = first / kChunk; chunk <= (first + size - 1) / kChunk; ++chunk) {
      if (marks_[chunk].load(std::memory_order_relaxed)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kChunk = size_t{2} << 20;  // what memory is handed out in (memory/address_map.h)
  using Mark = std::atomic<bool>;
  template <typename Visit>
  bool ForEach(const void* address, size_t size, Visit visit) const;

  Volleys& volleys_;
  uintptr_t base_ = 0;
  size_t size_ = 0;
  Mark* marks_ = nullptr;
};

}  // namespace ropeway::cpu
