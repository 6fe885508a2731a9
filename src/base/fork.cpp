#include "base/fork.h"

#include <array>

#include "acl/error_codes/rt_error_codes.h"
#include "base/error_log.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

constexpr auto kLocks = static_cast<size_t>(ForkLock::kCount);
constinit NoDestroy<std::array<ForkMutex, kLocks>> g_locks;
bool g_devices_up = false;  // guarded by kStart

void Prepare() {
  // The texts of a thread register a destructor when they are first used, which takes a lock of the loader.
  PeekLastError();
  for (ForkMutex& mutex : g_locks.get()) mutex.lock();
}

void Release() {
  for (size_t i = kLocks; i > 0; --i) g_locks.get()[i - 1].unlock();
}

void ReleaseInChild() {
  Release();
  if (g_devices_up) internal::g_forked_child.store(true, std::memory_order_relaxed);
}

[[gnu::constructor]] void Install() { pthread_atfork(&Prepare, &Release, &ReleaseInChild); }

}  // namespace

constinit std::atomic<bool> internal::g_forked_child{false};

Status RefuseForkedChild() {
  return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
              "this process was forked from one that had a device set; fork before the first aclrtSetDevice, or exec");
}

void DevicesAreUp() { g_devices_up = true; }

ForkMutex& MutexOf(ForkLock lock) { return g_locks.get()[static_cast<size_t>(lock)]; }

}  // namespace ropeway
