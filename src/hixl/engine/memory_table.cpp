#include "hixl/engine/memory_table.h"

#include <algorithm>
#include <atomic>

#include "acl/acl.h"
#include "base/bytes.h"
#include "hixl/engine/result.h"
#include "ropeway/ropeway.h"

namespace ropeway::transfer {
namespace {

uint64_t NextRegion() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// What the runtime knows of the address must be what the program says of it.
Status Describe(LocalRegion* region) {
  aclrtPtrAttributes facts{};
  RW_TRY(FromRuntime("aclrtPointerGetAttributes", aclrtPointerGetAttributes(At(region->address), &facts)));
  const bool on_device = facts.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  if (on_device != region->device)
    return Fail(kParamInvalid, "mem.addr %p is %s memory, and type says %s", At(region->address), on_device ? "device" : "host",
                region->device ? "MEM_DEVICE (0)" : "MEM_HOST (1)");
  if (!on_device) {
    region->view = static_cast<char*>(At(region->address));
    return Ok();
  }
  region->device_id = static_cast<int32_t>(facts.location.id);
  void* view = nullptr;
  const aclError code = ropewayHostView(At(region->address), region->size, &view);
  if (code == ACL_ERROR_RT_PARAM_INVALID)
    return Fail(kParamInvalid, "mem.len %zu leaves the block of device memory at mem.addr %p", region->size, At(region->address));
  if (code != ACL_SUCCESS) {  // an engine that does not show its memory
    aclGetRecentErrMsg();
    RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&region->context)));
  }
  region->view = static_cast<char*>(view);
  return Ok();
}

}  // namespace

Result<LocalRegion> LocalMemory::Add(uintptr_t address, size_t size, bool device) {
  LockGuard lock(mutex_);
  for (const LocalRegion& other : *table_) {
    if (address >= other.address + other.size || other.address >= address + size) continue;
    if (address == other.address && size == other.size && device == other.device) return other;
    return Fail(kParamInvalid, "[%p, + %zu bytes) overlaps [%p, + %zu bytes), which is registered", At(address), size, At(other.address),
                other.size);
  }
  LocalRegion region{.number = NextRegion(), .address = address, .size = size, .device = device};
  RW_TRY(Describe(&region));
  auto table = std::make_shared<Table<LocalRegion>>(*table_);
  const auto place = std::find_if(table->begin(), table->end(), [&](const LocalRegion& one) { return one.address > address; });
  table->insert(place, region);
  table_ = std::move(table);
  return region;
}

bool LocalMemory::Remove(uint64_t number) {
  LockGuard lock(mutex_);
  auto table = std::make_shared<Table<LocalRegion>>(*table_);
  if (std::erase_if(*table, [&](const LocalRegion& one) { return one.number == number; }) == 0) return false;
  table_ = std::move(table);
  return true;
}

TableRef<LocalRegion> LocalMemory::all() const {
  LockGuard lock(mutex_);
  return table_;
}

}  // namespace ropeway::transfer
