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
  size_t size = 0;  // bytes reserved for it (rules/memory.md 1)
  int device = -1;  // -1: pinned host memory
  uint32_t page_size = 0;
  const char* call = "";  // the API function that made it
  const void* caller = nullptr;
  void* pool = nullptr;  // handle of the pool that lends it out
  bool found() const { return size != 0; }
  uintptr_t end() const { return base + size; }
};

// A sequence lock. Writers are serialised by whoever has the record.
//
// Invariant: who reads any field of a later description sees the odd version that was stored before it, or a later one. Fields are stored
// with release and loaded with acquire, so a field that was read brings the version in front of it along: the second look at the version
// then differs from the first. An acquire-release increment in front of relaxed stores would not do: they may pass its store on ARM.
class Block {
 public:
  void Describe(const BlockInfo& info) {
    const uint32_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);  // odd: being written
    base_.store(info.base, std::memory_order_release);
    size_.store(info.size, std::memory_order_release);
    device_.store(info.device, std::memory_order_release);
    page_size_.store(info.page_size, std::memory_order_release);
    call_.store(info.call, std::memory_order_release);
    caller_.store(info.caller, std::memory_order_release);
    pool_.store(info.pool, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  BlockInfo Read() const {
    for (;;) {
      const uint32_t before = version_.load(std::memory_order_acquire);
      BlockInfo info{base_.load(std::memory_order_acquire),   size_.load(std::memory_order_acquire),
                     device_.load(std::memory_order_acquire), page_size_.load(std::memory_order_acquire),
                     call_.load(std::memory_order_acquire),   caller_.load(std::memory_order_acquire),
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
