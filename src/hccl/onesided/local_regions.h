// The memory that this rank has registered in one communicator, and for whom. Local buffers of puts and gets must lie in it, and
// it is what peers are given. Not thread-safe: OneSided's lock guards it.
#pragma once

#include <list>
#include <map>
#include <string>

#include "hccl/base/result.h"
#include "hccl/link/peer_link.h"
#include "hccl/onesided/memory_description.h"

namespace ropeway::comm {

// For one peer.
struct Export {
  uint64_t number = 0;  // what the peer calls it
  unsigned references = 0;
  Route route = Route::kLink;
  std::string ipc_key;    // of a mapping
  bool prepared = false;  // HcclCommPrepare made it; this is what it told the peer
  HcclMemDesc descriptor{};
};

struct LocalRegion {
  CommMemType type;
  uint64_t address;
  uint64_t size;
  char* view = nullptr;  // where the host reaches it; null when it cannot
  std::map<uint32_t, Export> exports;
  const void* global = nullptr;    // the process-wide registration that is bound here
  aclrtContext context = nullptr;  // in which it was registered, of memory that the host cannot reach

  // For the link: from where on, and whose it is.
  char* base() const { return view != nullptr ? view : reinterpret_cast<char*>(address); }
  Exposed ForPeer() const {
    Exposed exposed{base(), size};
    exposed.context = context;
    return exposed;
  }
};

class LocalRegions {
 public:
  // The region with exactly this range, new or known. Partial overlap: HCCL_E_INTERNAL.
  comm::Result<LocalRegion*> Add(CommMemType type, uint64_t address, uint64_t size);
  // Forgets it once nobody is left for whom it is registered.
  void RemoveIfUnused(const LocalRegion* region);
  // The region that holds the whole range, or null.
  const LocalRegion* Find(uint64_t address, uint64_t size) const;
  // The region that is exported to `peer` under this number, or null.
  LocalRegion* FindExport(uint32_t peer, uint64_t number);

  uint64_t NextNumber() { return ++last_number_; }
  bool empty() const { return regions_.empty(); }
  std::list<LocalRegion>& all() { return regions_; }

 private:
  std::list<LocalRegion> regions_;  // a list, since callers keep pointers
  uint64_t last_number_ = 0;
};

// Where the host reaches the memory of a registration: null for device memory of an engine that does not show it.
comm::Result<char*> HostViewOf(CommMemType type, void* address, uint64_t size);

}  // namespace ropeway::comm
