// The memory of this side that one peer may reach. Any thread.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/mutex.h"
#include "hccl/link/peer_link.h"

namespace ropeway::comm {

// What a peer is told about a range that it asks for; the numbers go over the wire.
enum class RangeStatus : uint32_t {
  kGood = 0,
  kNoRegion = 1,     // not exposed to this peer, or no longer
  kOutOfRegion = 2,  // leaves the region
};
// How a transfer ends that was answered so.
TransferEnd EndOf(RangeStatus status);

class Regions {
 public:
  void Expose(RegionId region, Exposed memory);
  void Withdraw(RegionId region);
  // Withdraws everything.
  void Clear();
  std::shared_ptr<const Exposed> Find(RegionId region) const;  // null: there is none

 private:
  using Ref = std::shared_ptr<const Exposed>;
  mutable Mutex mutex_{LockRank::kHcclRegions};
  std::unordered_map<RegionId, Ref> regions_ RW_GUARDED_BY(mutex_);
};

// Whether a region, which may be null, holds the whole range.
RangeStatus Judge(const Exposed* region, uint64_t offset, uint64_t size);

}  // namespace ropeway::comm
