#include "hccl/link/regions.h"

namespace ropeway::comm {

TransferEnd EndOf(RangeStatus status) {
  switch (status) {
    case RangeStatus::kGood: return {};
    case RangeStatus::kOutOfRegion: return {HCCL_E_REMOTE, "the range leaves the memory that the peer offers"};
    default: return {HCCL_E_REMOTE, "the peer does not offer this memory any more"};
  }
}

// Leases are closed without the lock: their users may be about to look for a region.
void Regions::Expose(RegionId region, Exposed memory) {
  LockGuard lock(mutex_);
  std::swap(regions_[region], memory);
  lock.unlock();
  if (memory.lease) memory.lease->Close();
}

void Regions::Withdraw(RegionId region) {
  LockGuard lock(mutex_);
  const auto node = regions_.extract(region);
  lock.unlock();
  if (node) node.mapped().lease->Close();
}

void Regions::Clear() {
  std::unordered_map<RegionId, Exposed> gone;
  {
    LockGuard lock(mutex_);
    gone.swap(regions_);
  }
  for (const auto& [region, memory] : gone) memory.lease->Close();
}

RangeStatus Regions::Locate(RegionId region, uint64_t offset, uint64_t size, Exposed* found) const {
  LockGuard lock(mutex_);
  const auto known = regions_.find(region);
  if (known == regions_.end()) return RangeStatus::kNoRegion;
  if (offset > known->second.size || size > known->second.size - offset) return RangeStatus::kOutOfRegion;
  *found = known->second;
  return RangeStatus::kGood;
}

}  // namespace ropeway::comm
