#include "hccl/onesided/local_regions.h"

#include "acl/acl.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

comm::Result<LocalRegion*> LocalRegions::Add(CommMemType type, uint64_t address, uint64_t size) {
  for (LocalRegion& known : regions_) {
    if (known.address == address && known.size == size) return &known;
    if (PartlyOverlap(known.address, known.size, address, size))
      return Fail(HCCL_E_INTERNAL, "[0x%lx, +%lu) overlaps the registered [0x%lx, +%lu) in part: register the same range, or another one",
                  address, size, known.address, known.size);
  }
  RW_TRY_SET(char* view, HostViewOf(type, reinterpret_cast<void*>(address), size));
  aclrtContext context = nullptr;
  if (view == nullptr) RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&context)));
  regions_.push_back({type, address, size, view, {}, nullptr, context});
  return &regions_.back();
}

void LocalRegions::RemoveIfUnused(const LocalRegion* region) {
  if (!region->exports.empty() || region->global != nullptr) return;
  regions_.remove_if([&](const LocalRegion& one) { return &one == region; });
}

const LocalRegion* LocalRegions::Find(uint64_t address, uint64_t size) const {
  for (const LocalRegion& region : regions_)
    if (Contains(region.address, region.size, address, size)) return &region;
  return nullptr;
}

LocalRegion* LocalRegions::FindExport(uint32_t peer, uint64_t number) {
  for (LocalRegion& region : regions_)
    if (const auto found = region.exports.find(peer); found != region.exports.end() && found->second.number == number) return &region;
  return nullptr;
}

comm::Result<char*> HostViewOf(CommMemType type, void* address, uint64_t size) {
  if (type == COMM_MEM_TYPE_HOST) return static_cast<char*>(address);
  void* view = nullptr;
  const aclError error = ropewayHostView(address, size, &view);
  constexpr aclError kNotSupported = 207000;
  if (error == kNotSupported) aclGetRecentErrMsg();
  if (error != 0 && error != kNotSupported) RW_TRY(comm::FromRuntime("ropewayHostView", error));
  return static_cast<char*>(view);
}

}  // namespace ropeway::comm
