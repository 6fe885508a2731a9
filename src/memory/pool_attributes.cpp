// What can be asked and told about a pool.
#include <cstring>

#include "acl/error_codes/rt_error_codes.h"
#include "base/mutex.h"
#include "memory/pool.h"

namespace ropeway {
namespace {

// The caller's value need not be aligned.
template <typename T>
T Load(const void* value) {
  T loaded;
  std::memcpy(&loaded, value, sizeof(loaded));
  return loaded;
}

template <typename T>
void Store(void* value, T stored) {
  std::memcpy(value, &stored, sizeof(stored));
}

}  // namespace

// Memory is used until its stream has come to the free.
size_t Pool::Used() {
  size_t used = lent_bytes_ + in_transit_;
  for (FreeBlock& block : free_) used += block.for_all || block.passed() ? 0 : block.size;
  return used;
}

bool* Pool::SwitchOf(aclrtMemPoolAttr attr) {
  switch (attr) {
    case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES: return &switches_.follow_events;
    case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC: return &switches_.opportunistic;
    case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return &switches_.insert_waits;
    default: return nullptr;
  }
}

Status Pool::SetAttribute(aclrtMemPoolAttr attr, const void* value) {
  LockGuard lock(mutex_);
  if (bool* on = SwitchOf(attr)) {
    const auto given = Load<uint32_t>(value);
    if (given > 1) return Fail(ACL_ERROR_RT_PARAM_INVALID, "attr %d is a switch: 0 or 1, not %u", static_cast<int>(attr), given);
    *on = given != 0;
    return Ok();
  }
  if (attr == ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD) {
    threshold_ = Load<uint64_t>(value);
    return Ok();
  }
  if (attr != ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH && attr != ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "attr %d can only be read", static_cast<int>(attr));
  if (const auto given = Load<uint64_t>(value); given != 0)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "attr %d is a peak: 0 starts it anew, and it cannot be set to %llu", static_cast<int>(attr),
                static_cast<unsigned long long>(given));
  if (attr == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) {
    used_high_ = Used();
  } else {
    reserved_high_ = reserved_;
  }
  return Ok();
}

void Pool::GetAttribute(aclrtMemPoolAttr attr, void* value) {
  LockGuard lock(mutex_);
  if (const bool* on = SwitchOf(attr)) return Store<uint32_t>(value, *on ? 1 : 0);
  switch (attr) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD: return Store<uint64_t>(value, threshold_);
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT: return Store<uint64_t>(value, reserved_);
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH: return Store<uint64_t>(value, reserved_high_);
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT: return Store<uint64_t>(value, Used());
    default: return Store<uint64_t>(value, used_high_);
  }
}

}  // namespace ropeway
