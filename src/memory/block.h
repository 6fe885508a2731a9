// One allocation. Records are never freed, only reused, so a reader that raced with a free sees an old or a new record but
// never foreign memory; the version tells it whether it read one of them whole.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ropeway {

// What a lookup returns: a copy, so that nothing changes under the reader.
struct BlockInfo {
  uintptr_t base = 0;
  size_t size = 0;          // bytes reserved for it (copy-and-memory.md 7.1)
  int device = -1;          // -1: pinned host memory
  uint32_t page_size = 0;
  const char* call = "";    // the API function that made it
  const void* caller = nullptr;
  void* pool = nullptr;     // handle of the pool that lends it out
  bool found() const { return size != 0; }
  uintptr_t end() const { return base + size; }
};

class Block {
 public:
  void Describe(const BlockInfo& info) {
    version_.fetch_add(1, std::memory_order_acq_rel);  // odd: being written
    base_.store(info.base, std::memory_order_relaxed);
    size_.store(info.size, std::memory_order_relaxed);
    device_.store(info.device, std::memory_order_relaxed);
    page_size_.store(info.page_size, std::memory_order_relaxed);
    call_.store(info.call, std::memory_order_relaxed);
    caller_.store(info.caller, std::memory_order_relaxed);
    pool_.store(info.pool, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_release);
  }

  BlockInfo Read() const {
    for (;;) {
      const uint32_t before = version_.load(std::memory_order_acquire);
      BlockInfo info{base_.load(std::memory_order_acquire),      size_.load(std::memory_order_acquire),
                     device_.load(std::memory_order_acquire),    page_size_.load(std::memory_order_acquire),
                     call_.load(std::memory_order_acquire),      caller_.load(std::memory_order_acquire),
                     pool_.load(std::memory_order_acquire)};
      if ((before & 1) == 0 && version_.load(std::memory_order_relaxed) == before) return info;
    }
  }

 private:
  std::atomic<uint32_t> version_{0};
  std::atomic<int> device_{-1};
  std::atomic<uintptr_t> base_{0};
  std::atomic<size_t> size_{0};
  std::atomic<uint32_t> page_size_{0};
  std::atomic<const char*> call_{""};
  std::atomic<const void*> caller_{nullptr};
  std::atomic<void*> pool_{nullptr};
};

}  // namespace ropeway
