// What a program said about ranges of managed memory: read mostly, preferred location, who will access it, and where it was
// prefetched to last. Advice moves no byte here, host and device see one memory; it is kept and reported. Byte ranges that say
// the same are one entry; a range that was never spoken of has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "acl/acl_rt.h"
#include "base/mutex.h"

namespace ropeway {

// A place that managed memory can be at; the ids are the program's. The host has id -1, and no place -2.
struct ManagedPlace {
  static constexpr int32_t kHostId = -1;
  static constexpr int32_t kNoId = -2;

  aclrtMemManagedLocationType type = ACL_MEM_LOCATIONTYPE_INVALID;
  int32_t id = kNoId;
  bool operator==(const ManagedPlace&) const = default;
};

struct Advice {
  bool read_mostly = false;
  ManagedPlace preferred;
  ManagedPlace prefetched;
  std::set<int32_t> accessed_by;  // device ids, and kHostId
  bool operator==(const Advice&) const = default;
};

class ManagedAdvice {
 public:
  // Changes what is said about every byte of the range.
  void Change(uintptr_t base, size_t size, const std::function<void(Advice&)>& change);
  // What holds for the whole range: a place that differs inside of it is no place, and only those access it who do so
  // everywhere.
  Advice Read(uintptr_t base, size_t size) const;
  // The range begins a new life.
  void Forget(uintptr_t base, size_t size);

 private:
  struct Entry {
    uintptr_t end;
    Advice advice;
  };
  using Entries = std::map<uintptr_t, Entry>;  // by base; disjoint
  // Lets entries begin and end at `address`, so that a range is whole entries.
  void SplitAt(uintptr_t address) RW_REQUIRES(mutex_);
  void JoinAround(uintptr_t base, uintptr_t end) RW_REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kManagedAdvice};
  Entries entries_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
