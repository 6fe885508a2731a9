// Managed memory: one address for host and device, so it is ordinary host memory that the runtime hands out. Its window is
// where the original has it when those addresses are free; every device has an equal part, whose blocks go when the device
// closes. Pages appear when they are touched.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "memory/address_map.h"
#include "memory/heap.h"
#include "memory/managed_advice.h"

namespace ropeway {

class ManagedSpace {
 public:
  static constexpr uintptr_t kUsualBase = 0x90000000000;
  static constexpr size_t kUsualSize = size_t{3} << 40;

  // Null when the process has no room for the addresses.
  static std::unique_ptr<ManagedSpace> Create(Engine& engine, int devices, Reclaimer* reclaimer = nullptr);

  bool Contains(const void* address) const { return map_.Contains(address); }
  // As AddressMap::RoomAt and Find, for addresses inside the window.
  ptrdiff_t RoomAt(const void* address) const { return map_.RoomAt(address); }
  BlockInfo Find(const void* address) const { return map_.Find(address); }
  int DeviceOf(const void* address) const;

  std::optional<void*> Allocate(int device, const HeapRequest& request);
  // False when the address is not the start of a live block.
  bool Free(void* address);
  bool Reserved(const void* address, size_t size, uint64_t as_of) { return heap(DeviceOf(address)).Reserved(address, size, as_of); }
  // As Heap::ReclaimSome, of all devices.
  bool ReclaimSome();
  void FreeAllOf(int device) { heap(device).FreeAll(); }
  Heap::Usage usage(int device) { return heap(device).usage(); }

  ManagedAdvice& advice() { return advice_; }

 private:
  ManagedSpace() = default;
  Heap& heap(int device) { return *heaps_[static_cast<size_t>(device)]; }

  AddressMap map_;
  size_t part_ = 0;  // bytes of the window that a device has
  std::vector<std::unique_ptr<Heap>> heaps_;
  ManagedAdvice advice_;
};

}  // namespace ropeway
