// Registered memory, in the order of its addresses, without overlaps. Whoever looks things up takes the whole table along: it never
// changes, a new one takes its place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "base/status.h"

namespace ropeway::transfer {

// Of this engine.
struct LocalRegion {
  uint64_t number = 0;  // never used twice in a process
  uintptr_t address = 0;
  size_t size = 0;
  bool device = false;
  int32_t device_id = -1;
  char* view = nullptr;            // where the host reaches it; null when it cannot
  aclrtContext context = nullptr;  // in which it was registered, then

  char* base() const { return view != nullptr ? view : reinterpret_cast<char*>(address); }
};

template <typename Region>
using Table = std::vector<Region>;  // by address
template <typename Region>
using TableRef = std::shared_ptr<const Table<Region>>;

// The region that has this address, or null. `near`: where the last one was found.
template <typename Region>
const Region* FindRegion(const Table<Region>& table, uintptr_t address, const Region* near) {
  if (near != nullptr && address - near->address < near->size) return near;
  const auto behind = std::upper_bound(table.begin(), table.end(), address, [](uintptr_t a, const Region& one) { return a < one.address; });
  if (behind == table.begin()) return nullptr;
  const Region& found = *(behind - 1);
  return address - found.address < found.size ? &found : nullptr;
}

class LocalMemory {
 public:
  // PARAM_INVALID: it is no memory of that kind, or overlaps other memory. The same range again: the same region.
  Result<LocalRegion> Add(uintptr_t address, size_t size, bool device);
  // False: there is no such region.
  bool Remove(uint64_t number);
  TableRef<LocalRegion> all() const;

 private:
  mutable Mutex mutex_{LockRank::kHixlMemory};
  TableRef<LocalRegion> table_ RW_GUARDED_BY(mutex_) = std::make_shared<Table<LocalRegion>>();
};

}  // namespace ropeway::transfer
