#include "memory/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "acl/acl_rt.h"
#include "base/bytes.h"
#include "memory/host_probe.h"

namespace ropeway {
namespace {

// Where the API documents mapped memory to begin.
constexpr uintptr_t kUsualMapped = uintptr_t{16} << 40;
constexpr size_t kSmallestHostWindow = 2 * kChunkBytes;
constexpr size_t kPage = 4096;
constexpr size_t kLargestForeign = size_t{1} << 46;  // sums of two do not overflow

size_t MachineMemory() { return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::unique_ptr<Memory> Memory::Create(Engine& engine, const AddressNeeds& needs) {
  std::unique_ptr<Memory> memory(new Memory(engine, needs));
  return memory->Init() ? std::move(memory) : nullptr;
}

bool Memory::Init() {
  budget_ = ReadAddressBudget();
  plan_ = PlanAddresses(needs_, budget_.bytes);
  // Where nothing is known to be scarce, and is all the same, less has to do.
  while (plan_.possible() && !ReserveDevices()) {
    budget_ = {plan_.total(needs_) / 2, "the addresses that the system has in one piece"};
    plan_ = PlanAddresses(needs_, budget_.bytes);
  }
  if (!plan_.possible() || !ReserveHost()) return false;
  for (int device = 0; device < static_cast<int>(needs_.devices); ++device) {
    const uintptr_t base = devices_.base() + static_cast<size_t>(device) * plan_.window;
    device_heaps_.push_back(std::make_unique<Heap>(engine_, devices_, base, plan_.window, plan_.device_memory, device));
    device_heaps_.back()->set_reclaimer(&reclaimer_);
  }
  LockGuard lock(alias_mutex_);
  aliases_.Add(devices_.base() + needs_.devices * plan_.window, plan_.aliases);
  window_shift_ = std::countr_zero(plan_.window);
  ExplainAddresses();
  return true;
}

void Memory::ExplainAddresses() {
  const auto size = [](size_t bytes) {
    return bytes % kGiB == 0 ? std::to_string(bytes / kGiB) + " GiB" : std::to_string(bytes / kMiB) + " MiB";
  };
  address_reason_ = std::to_string(needs_.devices) + " x " + size(plan_.device_memory) + ", pinned memory up to " + size(plan_.host);
  if (plan_.device_memory < needs_.device_memory) address_reason_ += "; the settings say " + size(needs_.device_memory) + " a device";
  if (budget_.limited_by != nullptr) address_reason_ += "; scarce because of " + std::string(budget_.limited_by);
}

bool Memory::ReserveDevices() {
  const size_t windows = needs_.devices * plan_.window + plan_.aliases;
  const size_t size = windows + plan_.mapped;
  void* base = nullptr;
  if (budget_.limited_by == nullptr) base = engine_.memory().ReserveDevices(plan_.window, size, kUsualMapped - windows);
  if (base == nullptr) base = engine_.memory().ReserveDevices(plan_.window, size, 0);
  return base != nullptr && devices_.Init(base, windows) && mapped_.Init(engine_, static_cast<char*>(base) + windows, plan_.mapped);
}

bool Memory::ReserveHost() {
  void* base = engine_.memory().ReserveHost(plan_.host);
  while (base == nullptr && plan_.host > kSmallestHostWindow) base = engine_.memory().ReserveHost(plan_.host = WholeChunks(plan_.host / 2));
  if (base == nullptr || !host_.Init(base, plan_.host)) return false;
  host_heap_ = std::make_unique<Heap>(engine_, host_, host_.base(), plan_.host, std::min(MachineMemory(), plan_.host), -1);
  host_heap_->set_reclaimer(&reclaimer_);
  mapped_.set_reclaimer(&reclaimer_);
  return true;
}

BlockInfo Memory::FindBlock(const void* address) const {
  if (devices_.Contains(address)) return devices_.Find(address);
  if (mapped_.Contains(address)) return mapped_.Find(address);
  if (host_.Contains(address)) return host_.Find(address);
  const ManagedSpace* space = managed();
  return space != nullptr && space->Contains(address) ? space->Find(address) : BlockInfo();
}

Location Memory::FindElsewhere(const void* address, size_t count) const {
  if (mapped_.Contains(address)) {
    const BlockInfo run = mapped_.FindRun(address, count);
    if (!run.found()) return {0, -1, Place::kNowhere};
    return {run.end() - Bits(address), run.device, run.device < 0 ? Place::kPinned : Place::kDevice};
  }
  if (const ManagedSpace* space = managed(); space != nullptr && space->Contains(address)) {
    const ptrdiff_t room = space->RoomAt(address);
    if (room <= 0) return {0, -1, Place::kNowhere};
    return {static_cast<size_t>(room), space->DeviceOf(address), Place::kManaged};
  }
  const Registration registration = registrations_.Find(address);
  if (registration.found() && count <= registration.end() - Bits(address)) return {registration.end() - Bits(address), -1, Place::kPinned};
  return IsRemote(address) ? Location{0, -1, Place::kNowhere} : Location();
}

Status Memory::ExplainNoRoom(const char* name, const void* address, size_t count, const Location& location) const {
  const BlockInfo block = FindBlock(address);
  if (!block.found())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p + %zu bytes leaves its range: only %zu bytes of %s are left behind the address", name,
                address, count, location.room, PlaceName(location.place));
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              "%s %p + %zu bytes leaves its block: it is byte %zu of %zu bytes of %s, made by %s%s, and only %zu are left behind it; "
              "copy less, or allocate more",
              name, address, count, Bits(address) - block.base, block.size, PlaceName(location.place), block.call,
              CallerText(block.caller).c_str(), location.room);
}

std::optional<FreedBlock> Memory::LastFreed(const void* address) const {
  if (host_.Contains(address)) return host_heap_->LastFreed(address);
  if (!devices_.Contains(address) || DeviceOf(address) >= device_heaps_.size()) return std::nullopt;
  return device_heaps_[DeviceOf(address)]->LastFreed(address);
}

// A block that somebody else has got at the address since would have been found.
static Status ExplainFreed(const char* name, const void* address, const FreedBlock& freed) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              "%s %p was byte %zu of %zu bytes of %s that %s made%s, and %s has freed%s; free later, or allocate anew", name, address,
              Bits(address) - freed.block.base, freed.block.size, freed.block.device < 0 ? "pinned host memory" : "device memory",
              freed.block.call, CallerText(freed.block.caller).c_str(), freed.by.call == nullptr ? "this library" : freed.by.call,
              CallerText(freed.by.caller).c_str());
}

Status Memory::ExplainNoBlock(const char* name, const void* address) const {
  if (const BlockInfo block = FindBlock(address); block.found())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is byte %zu of a block that %s made%s; free it by %s(%p), where it begins", name,
                address, Bits(address) - block.base, block.call, CallerText(block.caller).c_str(),
                block.device < 0 ? "aclrtFreeHost" : "aclrtFree", reinterpret_cast<void*>(block.base));
  if (const std::optional<FreedBlock> freed = LastFreed(address)) return ExplainFreed(name, address, *freed);
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              "%s %p is not the start of a block of this library (freed long ago, or memory of somebody else); "
              "free what aclrtMalloc gave by aclrtFree, and what aclrtMallocHost gave by aclrtFreeHost",
              name, address);
}

Status Memory::ExplainNowhere(const char* name, const void* address) const {
  if (IsRemote(address))
    return Fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "%s %p stands for memory of another host, which the runtime does not reach: use HcclMemcpyAsync, HcclBatchPut or HcclBatchGet",
        name, address);
  if (const std::optional<FreedBlock> freed = LastFreed(address)) return ExplainFreed(name, address, *freed);
  if (host_.Contains(address)) return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p was pinned host memory and has been freed", name, address);
  if (managed() != nullptr && managed()->Contains(address))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is an address of managed memory but in no live block (freed, or never allocated)", name,
                address);
  if (const Registration registration = FindAlias(address); registration.found())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is the device alias of the host memory registered at %p, which only device code may use",
                name, address, reinterpret_cast<void*>(registration.base));
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p lies in device address space but in no live block (freed, or never allocated)", name,
              address);
}

std::optional<void*> Memory::AllocateDevice(int device, const HeapRequest& request) {
  return device_heaps_[static_cast<size_t>(device)]->Allocate(request);
}

std::optional<void*> Memory::AllocateHost(const HeapRequest& request) { return host_heap_->Allocate(request); }

AddressJudge::Verdict Memory::JudgeFreed(const void* address, size_t size, uint64_t as_of) const {
  if (as_of == FreeClock::kNever) return {false, -1};
  if (devices_.Contains(address)) {
    const size_t device = DeviceOf(address);
    const bool reserved = device < device_heaps_.size() && device_heaps_[device]->Reserved(address, size, as_of);
    return {reserved, static_cast<int>(device)};
  }
  if (host_.Contains(address)) return {host_heap_->Reserved(address, size, as_of), -1};
  if (mapped_.Contains(address)) return mapped_.Reserved(address, size, as_of);
  ManagedSpace* space = managed();
  return {space != nullptr && space->Contains(address) && space->Reserved(address, size, as_of), -1};
}

bool Memory::FreeDevice(void* address) {
  if (!devices_.Contains(address)) return false;
  const size_t device = DeviceOf(address);
  return device < device_heaps_.size() && device_heaps_[device]->Free(address);
}

std::optional<SharedBlock> Memory::ShareDevice(const void* address, size_t size) {
  if (!devices_.Contains(address)) return std::nullopt;
  const size_t device = DeviceOf(address);
  return device < device_heaps_.size() ? device_heaps_[device]->Share(address, size) : std::nullopt;
}

Result<uintptr_t> Memory::MapForeign(int descriptor, size_t piece_offset, size_t piece_size, const BlockInfo& block) {
  const bool whole_chunks = (piece_offset | piece_size) % kChunkBytes == 0;
  const bool inside = piece_size <= kLargestForeign && piece_offset <= kLargestForeign && block.end() <= piece_size && block.size != 0;
  std::shared_ptr<SharedPages> pages = engine_.memory().AdoptPages(descriptor, inside ? piece_offset + piece_size : SIZE_MAX);
  if (pages == nullptr || !whole_chunks || !inside)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "what the exporter sent is not %zu bytes of shared memory", piece_size);
  const std::optional<uintptr_t> base = mapped_.Reserve(piece_size, kChunkBytes);
  if (!base) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no addresses are left for %zu bytes of another process", piece_size);
  BlockInfo placed = block;
  placed.base += *base;
  bool mapped = false;
  try {
    mapped = mapped_.Map(*base, {{pages, piece_offset, piece_size}}, placed, nullptr, false);
  } catch (...) {
    mapped_.Release(*base, piece_size);
    throw;
  }
  if (mapped) return *base;
  mapped_.Release(*base, piece_size);
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the system does not map %zu bytes of another process", piece_size);
}

bool Memory::FreeHost(void* address) {
  if (!host_.Contains(address)) return false;
  const BlockInfo block = host_.Find(address);
  if (!host_heap_->Free(address)) return false;
  for (;;) {
    const Registration registration = registrations_.RemoveOneInside(block.base, block.size);
    if (!registration.found()) return true;
    DropAlias(registration);
  }
}

void Memory::FreeAllOf(int device) {
  virtual_memory_.FreeAllOf(device);
  device_heaps_[static_cast<size_t>(device)]->FreeAll();
  if (managed() != nullptr) managed()->FreeAllOf(device);
}

bool Memory::ReclaimSome() {
  bool more = host_heap_->ReclaimSome();
  for (auto& heap : device_heaps_) more |= heap->ReclaimSome();
  more |= mapped_.ReclaimSome();
  return (managed() != nullptr && managed()->ReclaimSome()) || more;
}

ManagedSpace* Memory::OpenManaged() {
  LockGuard lock(managed_mutex_);
  if (owned_managed_ == nullptr) {
    owned_managed_ = ManagedSpace::Create(engine_, static_cast<int>(needs_.devices), &reclaimer_);
    managed_.store(owned_managed_.get(), std::memory_order_release);
  }
  return owned_managed_.get();
}

std::shared_ptr<PhysicalMemory> Memory::AllocatePhysical(const PhysicalTraits& traits) {
  Heap& account = traits.device < 0 ? *host_heap_ : *device_heaps_[static_cast<size_t>(traits.device)];
  std::shared_ptr<SharedPages> pages = engine_.memory().CreatePages(traits.size, {traits.device, traits.numa_node});
  if (pages == nullptr) return nullptr;
  auto memory = std::make_shared<PhysicalMemory>(traits, std::move(pages));
  return memory->ChargeTo(account) ? memory : nullptr;
}

std::optional<void*> Memory::ReserveRemote(size_t size) {
  const size_t pages = (size + kPage - 1) / kPage * kPage;
  void* const begin = mmap(nullptr, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return std::nullopt;
  try {
    remote_.Add({Bits(begin), pages, 0});
  } catch (...) {
    munmap(begin, pages);
    throw;
  }
  return begin;
}

bool Memory::ReleaseRemote(void* begin) {
  const Registration removed = remote_.Remove(Bits(begin));
  return removed.found() && munmap(begin, removed.size) == 0;
}

Status Memory::RequirePresent(const void* address, size_t size, bool writable) const {
  const void* missing = InHostSpace(address) ? nullptr : FindMissing(address, size, writable);
  if (missing == nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p + size %zu: the memory at %p is %s", address, size, missing,
              writable ? "not mapped, or read-only (which ACL_HOST_REG_READONLY allows)" : "not mapped");
}

// Where the program may touch device addresses, memory that is its own can be in one place only: the alias is that place then.
std::optional<uintptr_t> Memory::TakeAlias(uintptr_t address, size_t size) {
  if (needs_.views == 1) return address;
  const size_t in_page = address % kPage;
  LockGuard lock(alias_mutex_);
  const std::optional<uintptr_t> taken = aliases_.Take((in_page + size + kPage - 1) / kPage * kPage, kPage);
  return taken ? std::optional(*taken + in_page) : std::nullopt;
}

Status Memory::Register(void* address, size_t size, const RegisterOptions& options, uintptr_t* alias) {
  if (IsRemote(address)) return ExplainNowhere("ptr", address);
  RW_TRY(RequirePresent(address, size, !options.read_only));
  Registration registration{Bits(address), size, 0};
  if (options.mapped) {
    const std::optional<uintptr_t> taken = TakeAlias(Bits(address), size);
    if (!taken) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no device addresses are left to map %zu bytes", size);
    registration.alias = *taken;
  }
  bool added = false;
  try {
    added = registrations_.Add(registration);
    if (added && options.mapped) mirror_.Add({registration.alias, size, registration.base});
  } catch (...) {
    if (added) registrations_.Remove(registration.base);
    ReturnAlias(registration);
    throw;
  }
  if (!added) {
    ReturnAlias(registration);
    return Fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "ptr %p + size %zu overlaps a range that is registered already; unregister that one first", address, size);
  }
  if (!InHostSpace(address) && !engine_.memory().Register(address, size)) {
    registrations_.Remove(Bits(address));
    DropAlias(registration);
    const EngineMemory::Refusal refusal = engine_.memory().TakeRefusal();
    return Fail(refusal.code != 0 ? refusal.code : ACL_ERROR_RT_PARAM_INVALID,
                "ptr %p + size %zu cannot be registered with the %s engine%s; is all of it mapped?", address, size, engine_.traits().name,
                refusal.text.c_str());
  }
  if (alias != nullptr) *alias = registration.alias;
  return Ok();
}

void Memory::ReturnAlias(const Registration& registration) {
  if (registration.alias == 0 || registration.alias == registration.base) return;
  const size_t in_page = registration.alias % kPage;
  LockGuard lock(alias_mutex_);
  aliases_.Return(registration.alias - in_page, (in_page + registration.size + kPage - 1) / kPage * kPage);
}

void Memory::DropAlias(const Registration& registration) {
  if (registration.alias != 0) mirror_.Remove(registration.alias);
  ReturnAlias(registration);
}

Status Memory::Unregister(void* address) {
  const Registration removed = registrations_.Remove(Bits(address));
  if (!removed.found())
    return Fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "ptr %p is not the start of a range that aclrtHostRegister got", address);
  DropAlias(removed);
  if (!InHostSpace(address)) engine_.memory().Unregister(address);
  return Ok();
}

}  // namespace ropeway
