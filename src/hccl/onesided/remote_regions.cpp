#include "hccl/onesided/remote_regions.h"

#include "acl/acl_rt.h"
#include "hccl/link/remote_range.h"

namespace ropeway::comm {
namespace {

// A copy between two devices needs the executing one to have been granted access.
comm::Status ReachDevice(int32_t device) {
  int32_t current = 0;
  RW_TRY(comm::FromRuntime("aclrtGetDevice", aclrtGetDevice(&current)));
  if (current == device) return comm::Ok();
  return comm::FromRuntime("aclrtDeviceEnablePeerAccess", aclrtDeviceEnablePeerAccess(device, 0));
}

}  // namespace

comm::Result<RemoteRegion*> RemoteRegions::Find(const Descriptor& descriptor) {
  RemoteRegion* same = nullptr;
  for (RemoteRegion& known : regions_) {
    if (known.descriptor.region == descriptor.region) same = &known;
    if (PartlyOverlap(known.descriptor.address, known.descriptor.size, descriptor.address, descriptor.size))
      return comm::Fail(HCCL_E_INTERNAL, "the region [0x%lx, +%lu) of rank %u overlaps its enabled [0x%lx, +%lu) in part",
                        descriptor.address, descriptor.size, descriptor.exporter, known.descriptor.address, known.descriptor.size);
  }
  return same;
}

const RemoteRegion* RemoteRegions::Find(uint64_t address, uint64_t size) const {
  for (const RemoteRegion& region : regions_)
    if (Contains(region.begin, region.descriptor.size, address, size)) return &region;
  return nullptr;
}

RemoteRegion* RemoteRegions::Add(const RemoteRegion& region) {
  regions_.push_back(region);
  return &regions_.back();
}

void RemoteRegions::Remove(const RemoteRegion* region) {
  regions_.remove_if([&](const RemoteRegion& one) { return &one == region; });
}

comm::Result<RemoteRegion> OpenRemote(const Descriptor& descriptor, const LinkTarget& target, int32_t device, bool reserve) {
  RemoteRegion region{descriptor, descriptor.address, nullptr};
  if (descriptor.route == Route::kAddress) {
    if (descriptor.type == COMM_MEM_TYPE_DEVICE) RW_TRY(ReachDevice(device));
    region.mapped = reinterpret_cast<void*>(descriptor.address);
  } else if (descriptor.route == Route::kMapping) {
    RW_TRY(comm::FromRuntime("aclrtIpcMemImportByKey", aclrtIpcMemImportByKey(&region.mapped, descriptor.ipc_key, 0)));
  } else if (reserve) {
    region.mapped = ReserveRemoteRange(descriptor.size, target, descriptor.region);
    if (region.mapped == nullptr)
      return comm::Fail(HCCL_E_MEMORY, "no %lu bytes of addresses are left to stand for the region of rank %u", descriptor.size,
                        descriptor.exporter);
  }
  if (reserve) region.begin = reinterpret_cast<uint64_t>(region.mapped);
  return region;
}

void CloseRemote(const RemoteRegion& region) {
  if (region.descriptor.route == Route::kMapping) aclrtIpcMemClose(region.descriptor.ipc_key);
  if (region.descriptor.route == Route::kLink && region.mapped != nullptr) ReleaseRemoteRange(region.mapped);
}

}  // namespace ropeway::comm
