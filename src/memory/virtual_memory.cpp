#include "memory/virtual_memory.h"

#include <algorithm>
#include <iterator>

#include "base/bytes.h"

namespace ropeway {
namespace {

size_t AlignmentFor(size_t size) { return size >= kGiB ? kGiB : kChunkBytes; }

Status NoMapping(const void* address) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p is not the start of a mapping (never mapped, unmapped before, or inside of one)",
              address);
}

Status NoHandle(const void* handle) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "handle %p is no live handle of physical memory (freed, its device closed, or never one)",
              handle);
}

// What the engine could not map, with the words of the machine where it has some.
Status NotMapped(uintptr_t base, size_t size, const EngineMemory::Refusal& refusal) {
  if (refusal.code != 0) return Fail(refusal.code, "%zu bytes cannot be mapped so at %p%s", size, At(base), refusal.text.c_str());
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
              "the system has no room for a mapping of %zu bytes at %p; unmap something, or raise vm.max_map_count%s", size, At(base),
              refusal.text.c_str());
}

bool MayStandBeside(const PhysicalMemory& one, const PhysicalMemory& other) {
  return one.traits().device == other.traits().device && one.traits().imported == other.traits().imported;
}

}  // namespace

// --- Addresses ----------------------------------------------------------------------------------------------------------

Status VirtualMemory::Reserve(size_t size, const void* wanted, void** address) {
  const size_t alignment = AlignmentFor(size);
  const uintptr_t at = Bits(wanted);
  if (size > SIZE_MAX - kChunkBytes) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "size %zu is more than there are addresses", size);
  const size_t whole = (size + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
  if (wanted != nullptr && at % alignment != 0)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "expectPtr %p is not aligned to %zu bytes, as a size of %zu needs it", wanted, alignment, size);
  if (wanted != nullptr) window_.AwaitUnused(at, whole);
  std::map<uintptr_t, Reservation> one;
  one.try_emplace(0);
  auto made = one.extract(one.begin());  // there before anything is reserved
  LockGuard lock(mutex_);
  std::optional<uintptr_t> base;
  if (wanted == nullptr) {
    base = window_.Reserve(whole, alignment);
    if (!base) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no addresses are left for size %zu; release some", size);
  } else {
    if (window_.ReserveAt(at, whole)) base = at;
    if (!base)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "expectPtr %p + size %zu is reserved already, or leaves the addresses for virtual memory",
                  wanted, size);
  }
  made.key() = *base;
  made.mapped() = {*base, whole, {}};
  reserved_.insert(std::move(made));
  *address = At(*base);
  return Ok();
}

Status VirtualMemory::Release(const void* address) {
  LockGuard lock(mutex_);
  const auto it = reserved_.find(Bits(address));
  if (it == reserved_.end())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p is not the start of a reservation (released before, or inside of one)", address);
  const Reservation& reservation = it->second;
  if (!reservation.mappings.empty())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p: %zu mappings are left in the reservation, the first at %p; unmap them first",
                address, reservation.mappings.size(), At(reservation.mappings.begin()->first));
  window_.Release(it->first, reservation.size);
  reserved_.erase(it);
  return Ok();
}

size_t VirtualMemory::reservations() {
  LockGuard lock(mutex_);
  return reserved_.size();
}

VirtualMemory::Reservation* VirtualMemory::FindReservation(uintptr_t address) {
  auto it = reserved_.upper_bound(address);
  if (it == reserved_.begin()) return nullptr;
  --it;
  return address - it->first < it->second.size ? &it->second : nullptr;
}

// --- Physical memory ----------------------------------------------------------------------------------------------------

Status VirtualMemory::Publish(std::shared_ptr<PhysicalMemory> memory, void** handle) {
  LockGuard lock(mutex_);
  return PublishLocked(std::move(memory), handle);
}

Status VirtualMemory::PublishLocked(std::shared_ptr<PhysicalMemory> memory, void** handle) {
  SlabDraft<PhysicalHandleSlab, PhysicalHandle> made(PhysicalHandles(), PhysicalHandles().Take());
  if (!made) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no handle left for physical memory; free some");
  PhysicalHandle*& place = handle_of_[memory.get()];
  made->memory = std::move(memory);
  made->count = 1;
  place = made.Keep();
  *handle = PhysicalHandles().Publish(place);
  return Ok();
}

void VirtualMemory::Drop(PhysicalHandle* handle, Leftovers* leftovers) {
  PhysicalHandles().Retire(handle, handle->generation());
  leftovers->handles.insert(handle_of_.extract(handle->memory.get()));
}

Status VirtualMemory::Free(void* handle) {
  Leftovers leftovers;
  LockGuard lock(mutex_);
  PhysicalHandle* found = PhysicalHandles().Find(handle);
  if (found == nullptr) return NoHandle(handle);
  if (--found->count == 0) Drop(found, &leftovers);
  return Ok();
}

Result<std::shared_ptr<PhysicalMemory>> VirtualMemory::Find(void* handle) {
  LockGuard lock(mutex_);
  PhysicalHandle* found = PhysicalHandles().Find(handle);
  if (found == nullptr) return NoHandle(handle);
  return found->memory;
}

Status VirtualMemory::Retain(const void* address, void** handle) {
  LockGuard lock(mutex_);
  Mapping* mapping = FindMapping(Bits(address));
  if (mapping == nullptr) return NoMapping(address);
  const auto it = handle_of_.find(mapping->memory.get());
  if (it == handle_of_.end()) return PublishLocked(mapping->memory, handle);
  ++it->second->count;
  *handle = PhysicalHandles().HandleOf(it->second);
  return Ok();
}

// --- Mappings -----------------------------------------------------------------------------------------------------------

VirtualMemory::Mapping* VirtualMemory::FindMapping(uintptr_t address) {
  Mapping* mapping = nullptr;
  const uintptr_t base = FindMappingAround(address, &mapping);
  return base == address ? mapping : nullptr;
}

uintptr_t VirtualMemory::FindMappingAround(uintptr_t address, Mapping** mapping) {
  Reservation* reservation = FindReservation(address);
  if (reservation == nullptr) return 0;
  auto it = reservation->mappings.upper_bound(address);
  if (it == reservation->mappings.begin() || address - (--it)->first >= it->second.size) return 0;
  *mapping = &it->second;
  return it->first;
}

Status VirtualMemory::RequirePlace(const Request& request, const PhysicalMemory& memory, Reservation** reservation) {
  const PhysicalTraits& traits = memory.traits();
  void* address = At(request.base);
  if (request.size != traits.size)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "size %zu differs from the %zu bytes of the handle; map all of it", request.size, traits.size);
  if (request.base % traits.granularity != 0)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p is not aligned to %zu bytes, the granularity of the handle", address,
                traits.granularity);
  const Reservation* found = *reservation = FindReservation(request.base);
  if (found == nullptr)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p is not a reserved address; call aclrtReserveMemAddress first", address);
  if (request.size > found->size - (request.base - found->base))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p + size %zu leaves its reservation of %zu bytes at %p", address, request.size,
                found->size, At(found->base));
  return RequireNeighbours(request, memory, *found);
}

Status VirtualMemory::RequireNeighbours(const Request& request, const PhysicalMemory& memory, const Reservation& reservation) {
  if (reservation.mappings.empty()) return Ok();
  const auto next = reservation.mappings.lower_bound(request.base + request.size);
  if (next != reservation.mappings.begin()) {
    const auto& [base, mapping] = *std::prev(next);
    if (base + mapping.size > request.base)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p + size %zu meets the mapping of %zu bytes at %p; unmap that one first",
                  At(request.base), request.size, mapping.size, At(base));
  }
  if (MayStandBeside(*reservation.mappings.begin()->second.memory, memory)) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              "virPtr %p: a reservation holds memory of one device or of the host, and either own or imported; reserve another "
              "one for handles "
              "of another kind",
              At(request.base));
}

Status VirtualMemory::Show(uintptr_t base, const Mapping& mapping, const Access& access, const Reservation& owner) {
  const PhysicalTraits& traits = mapping.memory->traits();
  const BlockInfo block{base, mapping.size, traits.device, traits.page_size, mapping.call, mapping.caller};
  // The runtime itself reads and writes host memory by its address.
  const bool host_access = access.host || traits.device < 0;
  return window_.Map(base, {{mapping.memory->pages(), 0, mapping.size}}, block, &owner, host_access)
             ? Ok()
             : NotMapped(base, mapping.size, window_.TakeRefusal());
}

Status VirtualMemory::Map(const Request& request, void* handle) {
  window_.AwaitUnused(request.base, request.size);
  LockGuard lock(mutex_);
  PhysicalHandle* found = PhysicalHandles().Find(handle);
  if (found == nullptr) return NoHandle(handle);
  Reservation* reservation = nullptr;
  RW_TRY(RequirePlace(request, *found->memory, &reservation));
  std::map<uintptr_t, Mapping> made;
  made.emplace(request.base, Mapping{request.size, found->memory, {}, request.call, request.caller});
  if (request.accessible) {
    Mapping& mapping = made.begin()->second;
    mapping.access = Access::Of(found->memory->traits().device);
    RW_TRY(Show(request.base, mapping, mapping.access, *reservation));
  }
  reservation->mappings.merge(made);
  return Ok();
}

Status VirtualMemory::Unmap(const void* address) {
  Leftovers leftovers;
  LockGuard lock(mutex_);
  Mapping* mapping = FindMapping(Bits(address));
  if (mapping == nullptr) return NoMapping(address);
  if (mapping->access.any()) window_.Unmap(Bits(address));
  leftovers.mappings.insert(FindReservation(Bits(address))->mappings.extract(Bits(address)));
  return Ok();
}

// --- Access -------------------------------------------------------------------------------------------------------------

Status VirtualMemory::AddAccess(const void* address, size_t size, const Access& access) {
  LockGuard lock(mutex_);
  Mapping* mapping = FindMapping(Bits(address));
  if (mapping == nullptr) return NoMapping(address);
  if (size != mapping->size)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "size %zu differs from the %zu bytes that were mapped at virPtr %p", size, mapping->size,
                address);
  const Access all{mapping->access.devices | access.devices, mapping->access.host || access.host};
  if (!mapping->access.any()) {
    RW_TRY(Show(Bits(address), *mapping, all, *FindReservation(Bits(address))));
  } else if (all.host && !mapping->access.host && !window_.SetHostAccess(Bits(address), true)) {
    return NotMapped(Bits(address), size, window_.TakeRefusal());
  }
  mapping->access = all;
  return Ok();
}

Status VirtualMemory::GetAccess(const void* address, Access* access) {
  LockGuard lock(mutex_);
  Mapping* mapping = nullptr;
  if (FindMappingAround(Bits(address), &mapping) == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "virPtr %p lies in no mapping", address);
  *access = mapping->access;
  return Ok();
}

// --- The end ------------------------------------------------------------------------------------------------------------

void VirtualMemory::FreeAllOf(int device) {
  Leftovers leftovers;
  LockGuard lock(mutex_);
  for (auto& [base, reservation] : reserved_) {
    for (auto it = reservation.mappings.begin(); it != reservation.mappings.end();) {
      const auto entry = it++;
      if (entry->second.memory->traits().device != device) continue;
      if (entry->second.access.any()) window_.Unmap(entry->first);
      leftovers.mappings.insert(reservation.mappings.extract(entry));
    }
  }
  for (auto it = handle_of_.begin(); it != handle_of_.end();) {
    PhysicalHandle* handle = (it++)->second;
    if (handle->memory->traits().device == device) Drop(handle, &leftovers);
  }
}

}  // namespace ropeway
