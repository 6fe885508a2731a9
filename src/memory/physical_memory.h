// Physical memory of the virtual memory calls (rules/virtual-memory.md 1): bytes without an address, until they are mapped. They
// live as long as somebody has a handle to them or maps them, here or in another process.
#pragma once

#include <atomic>
#include <memory>

#include "acl/acl_rt.h"
#include "base/slab.h"
#include "engine/shared_pages.h"
#include "memory/address_map.h"
#include "memory/heap.h"

namespace ropeway {

// What it is, as whoever makes or imports it says.
struct PhysicalTraits {
  size_t size = 0;
  int device = -1;                   // -1: the host's
  int numa_node = -1;                // of the host's; -1: any
  size_t granularity = kChunkBytes;  // of sizes and of the addresses it is mapped at
  uint32_t page_size = 0;
  bool imported = false;             // from a shareable handle
  aclrtPhysicalMemProp described{};  // what the API says about it
};

class PhysicalMemory {
 public:
  PhysicalMemory(const PhysicalTraits& traits, std::shared_ptr<SharedPages> pages) : traits_(traits), pages_(std::move(pages)) {}
  ~PhysicalMemory() {
    if (account_ != nullptr) account_->Refund(traits_.size);
  }
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  // Once, at first, and not for memory that another process pays for: charges the size, which the account gets back at the end. False
  // when it does not have that much.
  bool ChargeTo(Heap& account) {
    if (!account.Charge(traits_.size)) return false;
    account_ = &account;
    return true;
  }

  const PhysicalTraits& traits() const { return traits_; }
  const std::shared_ptr<SharedPages>& pages() const { return pages_; }

  // What lets other processes in: there is one at most, and it ends with this memory. False when there is one already.
  bool BeginSharing() { return !shared_.exchange(true); }
  void Share(std::shared_ptr<void> share) {
    share_ = std::move(share);
    if (share_ == nullptr) shared_ = false;
  }

 private:
  const PhysicalTraits traits_;
  const std::shared_ptr<SharedPages> pages_;
  Heap* account_ = nullptr;
  std::atomic<bool> shared_{false};
  std::shared_ptr<void> share_;  // belongs to whoever has begun
};

// The program's hold on physical memory. Counted: a retain finds the handle that is there and needs a free of its own.
class PhysicalHandle final : public SlabObject {
 public:
  void Recycle() { memory.reset(); }
  std::shared_ptr<PhysicalMemory> memory;  // this and the next guarded by VirtualMemory's mutex
  size_t count = 0;
};

using PhysicalHandleSlab = Slab<PhysicalHandle, 0x32>;
PhysicalHandleSlab& PhysicalHandles();

}  // namespace ropeway
