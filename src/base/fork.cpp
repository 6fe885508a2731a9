#include "base/fork.h"

#include <pthread.h>

#include <type_traits>

#include "acl/error_codes/rt_error_codes.h"
#include "base/error_log.h"

namespace ropeway {

// Calls come from static destructors, too.
static_assert(std::is_trivially_destructible_v<RecursiveMutex>);
constinit RecursiveMutex fork_lock::init{LockRank::kInit};
constinit RecursiveMutex fork_lock::start{LockRank::kStart};
constinit RecursiveMutex fork_lock::registries{LockRank::kRegistries};
constinit RecursiveMutex fork_lock::descriptors{LockRank::kDescriptors};

namespace {

bool g_devices_up RW_GUARDED_BY(fork_lock::start) = false;

void Prepare() RW_ACQUIRE(fork_lock::init, fork_lock::start, fork_lock::registries, fork_lock::descriptors) {
  // The texts of a thread register a destructor when they are first used, which takes a lock of the loader.
  PeekLastError();
  fork_lock::init.lock();
  fork_lock::start.lock();
  fork_lock::registries.lock();
  fork_lock::descriptors.lock();
}

void Release() RW_RELEASE(fork_lock::init, fork_lock::start, fork_lock::registries, fork_lock::descriptors) {
  fork_lock::descriptors.unlock();
  fork_lock::registries.unlock();
  fork_lock::start.unlock();
  fork_lock::init.unlock();
}

void ReleaseInChild() RW_RELEASE(fork_lock::init, fork_lock::start, fork_lock::registries, fork_lock::descriptors) {
  if (g_devices_up) internal::g_forked_child.store(true, std::memory_order_relaxed);
  Release();
}

[[gnu::constructor]] void Install() { pthread_atfork(&Prepare, &Release, &ReleaseInChild); }

}  // namespace

constinit std::atomic<bool> internal::g_forked_child{false};

Status RefuseForkedChild() {
  return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
              "this process was forked from one that had a device set; fork before the first aclrtSetDevice, or exec");
}

void DevicesAreUp() { g_devices_up = true; }

}  // namespace ropeway
