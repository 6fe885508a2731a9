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
  Ref last = std::make_shared<const Exposed>(std::move(memory));
  {
    LockGuard lock(mutex_);
    std::swap(regions_[region], last);
  }
  if (last) last->lease->Close();
}

void Regions::Withdraw(RegionId region) {
  LockGuard lock(mutex_);
  const auto node = regions_.extract(region);
  lock.unlock();
  if (node) node.mapped()->lease->Close();
}

void Regions::Clear() {
  std::unordered_map<RegionId, Ref> gone;
  {
    LockGuard lock(mutex_);
    gone.swap(regions_);
  }
  for (const auto& [region, memory] : gone) memory->lease->Close();
}

std::shared_ptr<const Exposed> Regions::Find(RegionId region) const {
  LockGuard lock(mutex_);
  const auto known = regions_.find(region);
  return known == regions_.end() ? nullptr : known->second;
}

RangeStatus Judge(const Exposed* region, uint64_t offset, uint64_t size) {
  if (region == nullptr) return RangeStatus::kNoRegion;
  return offset > region->size || size > region->size - offset ? RangeStatus::kOutOfRegion : RangeStatus::kGood;
}

}  // namespace ropeway::comm
