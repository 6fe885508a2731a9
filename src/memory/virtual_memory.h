// Addresses without memory, memory without addresses, and which of one lies behind which of the other (rules/virtual-memory.md 1).
// Here are the rules; the bytes and what copies see of them are MappedWindow's.
//
// A mapping that nobody may access is known here only: to copies and queries its addresses are empty.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "memory/mapped_window.h"
#include "memory/physical_memory.h"

namespace ropeway {

// Who may use a mapping.
struct Access {
  uint64_t devices = 0;  // one bit each, by physical id
  bool host = false;
  bool any() const { return devices != 0 || host; }
  static Access Of(int device) { return device < 0 ? Access{0, true} : Access{uint64_t{1} << device, false}; }
  bool Covers(const Access& other) const { return (other.devices & ~devices) == 0 && (host || !other.host); }
};

class VirtualMemory {
 public:
  explicit VirtualMemory(MappedWindow& window) : window_(window) {}

  // Whole chunks from `size` up; at `wanted` unless that is null. 107000: not there; 207001: no addresses left.
  Status Reserve(size_t size, const void* wanted, void** address);
  Status Release(const void* address);
  size_t reservations();

  // A handle with a count of one.
  Status Publish(std::shared_ptr<PhysicalMemory> memory, void** handle);
  Status Free(void* handle);
  Result<std::shared_ptr<PhysicalMemory>> Find(void* handle);
  // The handle of what is mapped at an address, counted once more; a new one when all were freed.
  Status Retain(const void* address, void** handle);

  // Who asks, for messages about the block.
  struct Request {
    uintptr_t base;
    size_t size;
    bool accessible;  // to the memory's own device, or the host
    const char* call;
    const void* caller;
  };
  Status Map(const Request& request, void* handle);
  Status Unmap(const void* address);
  Status AddAccess(const void* address, size_t size, const Access& access);
  Status GetAccess(const void* address, Access* access);

  // The device closed: its memory is gone, with handles and mappings.
  void FreeAllOf(int device);

 private:
  struct Mapping {
    size_t size;
    std::shared_ptr<PhysicalMemory> memory;
    Access access;
    const char* call;
    const void* caller;
  };
  struct Reservation {
    uintptr_t base;
    size_t size;
    std::map<uintptr_t, Mapping> mappings;  // by their addresses
  };
  // What may be the last owners of memory: they go behind the lock, since that takes time. Taking them here takes no memory.
  struct Leftovers {
    std::map<uintptr_t, Mapping> mappings;
    std::map<const PhysicalMemory*, PhysicalHandle*> handles;
    ~Leftovers() {
      for (auto& [memory, handle] : handles) PhysicalHandles().Release(handle);
    }
  };

  Reservation* FindReservation(uintptr_t address) RW_REQUIRES(mutex_);
  // The mapping that starts at an address, or null; and the one around it, whose address is returned, or 0.
  Mapping* FindMapping(uintptr_t address) RW_REQUIRES(mutex_);
  uintptr_t FindMappingAround(uintptr_t address, Mapping** mapping) RW_REQUIRES(mutex_);
  Status PublishLocked(std::shared_ptr<PhysicalMemory> memory, void** handle) RW_REQUIRES(mutex_);
  Status RequirePlace(const Request& request, const PhysicalMemory& memory, Reservation** reservation) RW_REQUIRES(mutex_);
  Status RequireNeighbours(const Request& request, const PhysicalMemory& memory, const Reservation& reservation);
  // Puts the pages there, for copies to see.
  Status Show(uintptr_t base, const Mapping& mapping, const Access& access, const Reservation& owner);
  void Drop(PhysicalHandle* handle, Leftovers* leftovers) RW_REQUIRES(mutex_);

  MappedWindow& window_;
  Mutex mutex_{LockRank::kVirtualMemory};
  std::map<uintptr_t, Reservation> reserved_ RW_GUARDED_BY(mutex_);                   // by address
  std::map<const PhysicalMemory*, PhysicalHandle*> handle_of_ RW_GUARDED_BY(mutex_);  // of memory that has one
};

}  // namespace ropeway
