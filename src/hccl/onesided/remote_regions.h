// The memory of one peer that this rank may reach, and how. Not thread-safe: OneSided's lock guards it.
#pragma once

#include <list>

#include "hccl/base/result.h"
#include "hccl/link/stream_transfer.h"
#include "hccl/onesided/memory_description.h"

namespace ropeway::comm {

struct RemoteRegion {
  Descriptor descriptor;
  // What HcclBatchPut's remoteAddr lies in: what HcclEnableMemAccess returned or, after HcclCommPrepare, the peer's own address.
  uint64_t begin;
  void* mapped;  // what this process can hand to a copy; null for kLink without a reserved range
  unsigned references = 1;
};

class RemoteRegions {
 public:
  // The region of this descriptor if it is enabled already, or null. Partial overlap with an enabled one: HCCL_E_INTERNAL.
  comm::Result<RemoteRegion*> Find(const Descriptor& descriptor);
  // The region that holds the whole range, or null.
  const RemoteRegion* Find(uint64_t address, uint64_t size) const;
  RemoteRegion* Add(const RemoteRegion& region);
  void Remove(const RemoteRegion* region);
  bool empty() const { return regions_.empty(); }
  std::list<RemoteRegion>& all() { return regions_; }

 private:
  std::list<RemoteRegion> regions_;
};

// Makes the memory of a descriptor reachable. `reserve`: a region behind a link gets addresses of its own.
comm::Result<RemoteRegion> OpenRemote(const Descriptor& descriptor, const LinkTarget& target, int32_t device, bool reserve);
// Gives back what OpenRemote took. For a mapping the calling thread needs a context.
void CloseRemote(const RemoteRegion& region);

}  // namespace ropeway::comm
