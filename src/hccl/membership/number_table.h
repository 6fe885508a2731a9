// What the runtime is given instead of a pointer: a number. Whether it tells of an end once, twice or not at all, nothing
// dangles.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"

namespace ropeway::comm {

template <typename T>
class NumberTable {
 public:
  // Never 0.
  uint64_t Add(std::shared_ptr<T> object) {
    LockGuard lock(mutex_);
    objects_[++last_] = std::move(object);
    return last_;
  }
  std::shared_ptr<T> Find(uint64_t number) {
    LockGuard lock(mutex_);
    const auto found = objects_.find(number);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> Remove(uint64_t number) {
    LockGuard lock(mutex_);
    auto node = objects_.extract(number);
    return node ? std::move(node.mapped()) : nullptr;
  }

 private:
  Mutex mutex_{LockRank::kHcclNumbers};
  std::map<uint64_t, std::shared_ptr<T>> objects_ RW_GUARDED_BY(mutex_);
  uint64_t last_ RW_GUARDED_BY(mutex_) = 0;
};

inline void* AsArgument(uint64_t number) { return reinterpret_cast<void*>(static_cast<uintptr_t>(number)); }
inline uint64_t NumberOf(void* argument) { return reinterpret_cast<uintptr_t>(argument); }

}  // namespace ropeway::comm
