// Memory that is registered once for the process and bound to communicators: HcclRegisterGlobalMem to HcclCommPrepare.
#include <map>

#include "base/mutex.h"
#include "hccl/onesided/one_sided.h"
#include "hccl/onesided/one_sided_checks.h"

using namespace ropeway::comm;
using ropeway::comm::Entry;
using ropeway::comm::Fail;
using ropeway::comm::Ok;
using ropeway::comm::RequirePointer;
using ropeway::comm::Result;
using ropeway::comm::Status;

namespace ropeway::comm {
namespace {

struct GlobalMemory {
  CommMem memory;
  unsigned bindings = 0;
};

// Handles are numbers, so a stale one is an error and never an address.
struct GlobalTable {
  Mutex mutex{LockRank::kHcclGlobalMemory};
  std::map<uintptr_t, GlobalMemory> entries RW_GUARDED_BY(mutex);
  uintptr_t last RW_GUARDED_BY(mutex) = 0;
};
GlobalTable& TheGlobalTable() {
  static GlobalTable* const table = new GlobalTable;
  return *table;
}

// The entry of a handle.
Result<GlobalMemory*> FindGlobal(GlobalTable& table, const void* handle) RW_REQUIRES(table.mutex) {
  const auto found = table.entries.find(reinterpret_cast<uintptr_t>(handle));
  if (found == table.entries.end()) return Fail(HCCL_E_PARA, "memHandle %p is not registered", handle);
  return &found->second;
}

Status CountBinding(const void* handle, int change) {
  GlobalTable& table = TheGlobalTable();
  LockGuard lock(table.mutex);
  RW_TRY_SET(GlobalMemory * entry, FindGlobal(table, handle));
  entry->bindings += static_cast<unsigned>(change);
  return Ok();
}

}  // namespace

Status OneSided::Bind(const CommMem& memory, const void* handle) {
  LockGuard lock(mutex_);
  RW_TRY_SET(LocalRegion * region, local_.Add(memory.type, reinterpret_cast<uint64_t>(memory.addr), memory.size));
  if (region->global != nullptr) return Fail(HCCL_E_PARA, "memory at %p is bound to this communicator already", memory.addr);
  Status status = CountBinding(handle, +1);
  if (status.ok()) region->global = handle;
  local_.RemoveIfUnused(region);
  return status;
}

Status OneSided::Unbind(const void* handle) {
  std::vector<HcclMemDesc> prepared;
  {
    LockGuard lock(mutex_);
    LocalRegion* bound = nullptr;
    for (LocalRegion& region : local_.all())
      if (region.global == handle) bound = &region;
    if (bound == nullptr) return Fail(HCCL_E_PARA, "memHandle %p is not bound to this communicator", handle);
    for (const auto& [peer, exported] : bound->exports)
      if (exported.prepared) prepared.push_back(exported.descriptor);
  }
  for (const HcclMemDesc& desc : prepared) RW_TRY(Deregister(desc));
  LockGuard lock(mutex_);
  for (LocalRegion& region : local_.all()) {
    if (region.global != handle) continue;
    region.global = nullptr;
    local_.RemoveIfUnused(&region);
    break;
  }
  return CountBinding(handle, -1);
}

bool OneSided::AnyBound() {
  LockGuard lock(mutex_);
  for (const LocalRegion& region : local_.all())
    if (region.global != nullptr) return true;
  return false;
}

Status OneSided::PreparePeer(uint32_t peer, Deadline deadline) {
  std::vector<CommMem> bound;
  {
    LockGuard lock(mutex_);
    for (const LocalRegion& region : local_.all())
      if (region.global != nullptr) bound.push_back({region.type, reinterpret_cast<void*>(region.address), region.size});
  }
  std::vector<HcclMemDesc> local(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const auto address = reinterpret_cast<uint64_t>(bound[i].addr);
    RW_TRY(Register(peer, bound[i].type, address, bound[i].size, &local[i]));
    LockGuard lock(mutex_);
    LocalRegion* region = local_.FindExport(peer, Unpack(local[i])->region);
    region->exports[peer].prepared = true;
    region->exports[peer].descriptor = local[i];
  }
  std::vector<HcclMemDesc> received;
  RW_TRY(Exchange(peer, local, deadline, &received));
  LockGuard lock(mutex_);
  for (const HcclMemDesc& desc : received) {
    RW_TRY_SET([[maybe_unused]] RemoteRegion * region, EnableOffered(*Unpack(desc), false));
  }
  return Ok();
}

Status OneSided::Prepare(Deadline deadline) {
  LockGuard lock(prepare_mutex_);
  if (prepared_) return Ok();
  // In rising order on every rank: of all pairs that are left, both ranks of the first one are always at it.
  for (uint32_t peer = 0; peer < communicator_.size(); ++peer)
    if (peer != communicator_.rank()) RW_TRY(PreparePeer(peer, deadline));
  prepared_ = true;
  return Ok();
}

}  // namespace ropeway::comm

HcclResult HcclRegisterGlobalMem(const CommMem* mem, void** memHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("mem", mem));
    RW_TRY(RequirePointer("memHandle", memHandle));
    if (mem->addr == nullptr) return Fail(HCCL_E_PARA, "mem->addr is NULL");
    RW_TRY(RequireMemory(mem->type, mem->addr, mem->size));
    GlobalTable& table = TheGlobalTable();
    ropeway::LockGuard lock(table.mutex);
    table.entries[++table.last] = {*mem};
    *memHandle = reinterpret_cast<void*>(table.last);
    return Ok();
  });
}

HcclResult HcclDeregisterGlobalMem(void* memHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("memHandle", memHandle));
    GlobalTable& table = TheGlobalTable();
    ropeway::LockGuard lock(table.mutex);
    RW_TRY_SET(const GlobalMemory* entry, FindGlobal(table, memHandle));
    if (entry->bindings != 0)
      return Fail(HCCL_E_PARA, "memHandle %p is bound to %u communicators: call HcclCommUnbindMem first", memHandle, entry->bindings);
    table.entries.erase(reinterpret_cast<uintptr_t>(memHandle));
    return Ok();
  });
}

HcclResult HcclCommBindMem(HcclComm comm, void* memHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("memHandle", memHandle));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    CommMem memory;
    {
      GlobalTable& table = TheGlobalTable();
      ropeway::LockGuard lock(table.mutex);
      RW_TRY_SET(const GlobalMemory* entry, FindGlobal(table, memHandle));
      memory = entry->memory;
    }
    return found.service->Bind(memory, memHandle);
  });
}

HcclResult HcclCommUnbindMem(HcclComm comm, void* memHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("memHandle", memHandle));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    return found.service->Unbind(memHandle);
  });
}

HcclResult HcclCommPrepare(HcclComm comm, const HcclPrepareConfig* prepareConfig, const int timeout) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("prepareConfig", prepareConfig));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    if (prepareConfig->topoType != HCCL_TOPO_FULLMESH)
      return Fail(HCCL_E_PARA, "prepareConfig->topoType %d is not HCCL_TOPO_FULLMESH (0)", static_cast<int>(prepareConfig->topoType));
    RW_TRY_SET(const ropeway::Deadline deadline, DeadlineOf(*found.communicator, timeout));
    return found.service->Prepare(deadline);
  });
}
