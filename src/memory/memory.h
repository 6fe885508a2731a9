// Whose address is this? Owns the address layout of the process and answers for every pointer: device n, pinned host,
// registered host, managed, or pageable. Lookups take no lock; allocation and free do.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/address_budget.h"
#include "base/host_touch.h"
#include "base/mutex.h"
#include "base/status.h"
#include "copy/direction.h"
#include "engine/engine.h"
#include "memory/address_map.h"
#include "memory/address_plan.h"
#include "memory/heap.h"
#include "memory/managed_space.h"
#include "memory/mapped_window.h"
#include "memory/registrations.h"
#include "memory/virtual_memory.h"

namespace ropeway {

// Where a range starts, and how far it may go.
struct Location {
  size_t room = SIZE_MAX;  // bytes from the address to the end of its block; no limit for the program's own memory
  int device = -1;
  Place place = Place::kPageable;
};

class Memory {
 public:
  // Null, with a text that says why, when the process has no room for the addresses.
  static std::unique_ptr<Memory> Create(Engine& engine, const AddressNeeds& needs);

  // The class of [address, address + count) by its first byte (rules/places.md 1). A range that leaves its
  // registration is still the program's own memory, and counts as pageable.
  [[gnu::always_inline]] Location Find(const void* address, size_t count) const {
    if (devices_.Contains(address)) {
      const ptrdiff_t room = devices_.RoomAt(address);
      if (room <= 0) [[unlikely]]
        return {0, -1, Place::kNowhere};
      const auto window = (reinterpret_cast<uintptr_t>(address) - devices_.base()) >> window_shift_;
      return {static_cast<size_t>(room), static_cast<int>(window), Place::kDevice};
    }
    if (host_.Contains(address)) {
      const ptrdiff_t room = host_.RoomAt(address);
      if (room <= 0) [[unlikely]]
        return {0, -1, Place::kNowhere};
      return {static_cast<size_t>(room), -1, Place::kPinned};
    }
    return FindElsewhere(address, count);
  }
  // Two looks for those who know what an address should be: the room behind it in a block of `device`, or of pinned memory of ours. 0
  // for everything else, where Find knows more.
  [[gnu::always_inline]] size_t RoomOnDevice(const void* address, int device) const {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - devices_.base();
    if (offset >> window_shift_ != static_cast<uintptr_t>(device)) return 0;
    const ptrdiff_t room = devices_.RoomAt(address);
    return room > 0 ? static_cast<size_t>(room) : 0;
  }
  [[gnu::always_inline]] size_t RoomInPinned(const void* address) const {
    const ptrdiff_t room = host_.Contains(address) ? host_.RoomAt(address) : 0;
    return room > 0 ? static_cast<size_t>(room) : 0;
  }
  // As above; 107000 for kNowhere. `name` is the argument's name, for the message.
  Status Locate(const char* name, const void* address, size_t count, Location* location) const {
    *location = Find(address, count);
    if (location->place != Place::kNowhere) [[likely]]
      return Ok();
    return ExplainNowhere(name, address);
  }
  // 107000, and what the address was.
  [[gnu::cold]] Status ExplainNowhere(const char* name, const void* address) const;
  // 107000 when a located range leaves its block (rules/copies.md 7): the last check of a call.
  Status RequireRoom(const char* name, const void* address, size_t count, const Location& location) const {
    if (count <= location.room) [[likely]]
      return Ok();
    return ExplainNoRoom(name, address, count, location);
  }

  AddressJudge::Verdict Judge(const void* address, size_t size, uint64_t as_of) const {
    const Location location = Find(address, size);
    const bool known = location.place <= Place::kDevice || location.place == Place::kManaged;
    if (known && size <= location.room) [[likely]]
      return {true, location.place == Place::kDevice ? location.device : -1};
    return JudgeFreed(address, size, as_of);
  }

  BlockInfo FindBlock(const void* address) const;
  bool InDeviceSpace(const void* address) const { return devices_.Contains(address) || mapped_.Contains(address); }
  bool InHostSpace(const void* address) const { return host_.Contains(address); }
  bool MovedMeanwhile(const void* address) const { return engine_.memory().MovedMeanwhile(address); }
  // In a signal handler: ends the touch of the program's memory that this thread is in. False when it is in none.
  bool LeaveTouch(const siginfo_t& fault, void* context) const {
    return ropeway::LeaveTouch(fault, context) || engine_.memory().LeaveTouch(fault, context);
  }
  Registration FindRegistration(const void* address) const { return registrations_.Find(address); }

  std::optional<void*> AllocateDevice(int device, const HeapRequest& request);
  std::optional<void*> AllocateHost(const HeapRequest& request);
  // False when the address is not the start of a live block of that sort. Freeing host memory drops its registrations.
  bool FreeDevice(void* address);
  bool FreeHost(void* address);
  // 107000 for an address that no free takes, and what is or was there.
  [[gnu::cold]] Status ExplainNoBlock(const char* name, const void* address) const;
  // The device closed: its blocks are gone.
  void FreeAllOf(int device);
  // How much a device can have: less than the settings say where addresses are scarce.
  size_t device_memory() const { return plan_.device_memory; }
  bool addresses_scarce() const { return budget_.limited_by != nullptr; }
  // That in words, and what makes them scarce.
  const std::string& address_reason() const { return address_reason_; }
  Heap& device_heap(int device) { return *device_heaps_[static_cast<size_t>(device)]; }
  Heap::Usage device_usage(int device) { return device_heaps_[static_cast<size_t>(device)]->usage(); }
  Heap::Usage host_usage() { return host_heap_->usage(); }
  // Addresses of virtual memory and of memory of other processes.
  MappedWindow& mapped() { return mapped_; }
  // Makes a range inside one live block of a device ready for other processes; nothing: it is not, or there is no memory.
  std::optional<SharedBlock> ShareDevice(const void* address, size_t size);
  // Maps what another process shared: [piece_offset, + piece_size) of the pages behind the descriptor, which is taken over, at addresses
  // of its own; `block` says what of it, counted from there, copies may use. Returns where the piece begins.
  Result<uintptr_t> MapForeign(int descriptor, size_t piece_offset, size_t piece_size, const BlockInfo& block);
  // Addresses that stand for memory of another host: to the runtime there is nothing behind them. Nothing: the process has no room.
  std::optional<void*> ReserveRemote(size_t size);
  // False when it is not the start of a reserved range.
  bool ReleaseRemote(void* begin);
  bool IsRemote(const void* address) const { return remote_.Find(address).found(); }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  // Physical memory, charged to its device or to the host. Null: no memory for it.
  std::shared_ptr<PhysicalMemory> AllocatePhysical(const PhysicalTraits& traits);

  // Registers host memory. With `mapped` it gets an address for device code, which is good for nothing else. 107000, with the address,
  // where it is not mapped, or not writable and not `read_only`.
  struct RegisterOptions {
    bool mapped;
    bool read_only;
  };
  Status Register(void* address, size_t size, const RegisterOptions& options, uintptr_t* alias);
  // The registration whose alias this address lies in. Takes no lock.
  Registration FindAlias(const void* address) const {
    const Registration mirrored = mirror_.Find(address);
    return {mirrored.alias, mirrored.size, mirrored.base};
  }
  Status Unregister(void* address);
  size_t registration_count() const { return registrations_.count(); }

  // The process ends: no thread of ours touches memory any more.
  void Stop() { reclaimer_.Stop(); }

  // Managed memory, whose addresses are reserved when somebody wants some; null before, and when there is no room.
  ManagedSpace* managed() const { return managed_.load(std::memory_order_acquire); }
  ManagedSpace* OpenManaged();
  bool FreeManaged(void* address) { return managed() != nullptr && managed()->Free(address); }

 private:
  friend struct StateShape;  // api/state_table.cpp
  Memory(Engine& engine, const AddressNeeds& needs) : engine_(engine), needs_(needs) {}
  bool Init();
  bool ReserveDevices();
  bool ReserveHost();
  void ExplainAddresses();
  [[gnu::cold]] AddressJudge::Verdict JudgeFreed(const void* address, size_t size, uint64_t as_of) const;
  size_t DeviceOf(const void* address) const { return (reinterpret_cast<uintptr_t>(address) - devices_.base()) >> window_shift_; }
  // Neither a device's own memory nor pinned memory of ours.
  Location FindElsewhere(const void* address, size_t count) const;
  [[gnu::cold]] Status ExplainNoRoom(const char* name, const void* address, size_t count, const Location& location) const;
  std::optional<FreedBlock> LastFreed(const void* address) const;
  Status RequirePresent(const void* address, size_t size, bool writable) const;
  std::optional<uintptr_t> TakeAlias(uintptr_t address, size_t size);
  void ReturnAlias(const Registration& registration);
  void DropAlias(const Registration& registration);
  // As Heap::ReclaimSome, of everything.
  bool ReclaimSome();

  Engine& engine_;
  const AddressNeeds needs_;
  AddressBudget budget_;
  AddressPlan plan_;
  std::string address_reason_;
  AddressMap devices_;  // all device windows, and behind them one for the aliases of registered memory
  AddressMap host_;
  MappedWindow mapped_;  // right behind the device windows
  VirtualMemory virtual_memory_{mapped_};
  int window_shift_ = 0;  // every device has a window of the same size, a power of two
  std::vector<std::unique_ptr<Heap>> device_heaps_;
  std::unique_ptr<Heap> host_heap_;
  Registrations registrations_;
  Registrations mirror_;                     // those with an alias, by the alias: there `alias` is the host address
  Registrations remote_;                     // ranges of addresses without memory
  Mutex managed_mutex_{LockRank::kManaged};  // serialises OpenManaged
  std::unique_ptr<ManagedSpace> owned_managed_ RW_GUARDED_BY(managed_mutex_);
  std::atomic<ManagedSpace*> managed_{nullptr};
  Mutex alias_mutex_{LockRank::kAliases};
  RangeAllocator aliases_ RW_GUARDED_BY(alias_mutex_);
  Reclaimer reclaimer_{[this] { return ReclaimSome(); }};
};

}  // namespace ropeway
