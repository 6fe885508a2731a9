// fork. The child has one thread, and finds every lock as the parent's other threads left it at that moment.
//
// Where the parent had devices up, they stay the parent's: the child is told so by every call that needs one (507033), before the
// call touches anything (api/entry.h). A child that was forked earlier uses the library as its own. For its sake, fork waits for
// the locks of everything that works without a device, and the child finds them free.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "base/status.h"

namespace ropeway {

// --- Children of a process with devices ---------------------------------------------------------------------------------

namespace internal {
extern constinit std::atomic<bool> g_forked_child;
}  // namespace internal

inline bool InForkedChild() { return internal::g_forked_child.load(std::memory_order_relaxed); }
// The answer to whatever needs a device there: 507033.
[[gnu::cold]] Status RefuseForkedChild();
// Children that are forked from now on are refused. Under ForkLock::kStart.
void DevicesAreUp();

// --- Locks that fork waits for ------------------------------------------------------------------------------------------

// In the order in which one thread may take them. Each is recursive: what a callback or a driver does under it may fork, too.
enum class ForkLock {
  kInit,         // aclInit and aclFinalize, with their callbacks
  kStart,        // settings, the runtime, the service for other processes
  kRegistries,   // callbacks and texts of the process; held for a few instructions
  kDescriptors,  // the list of ipc/descriptor.h
  kCount,
};

// A recursive mutex that the child may unlock: the system's knows its owner by a number that fork changes.
class ForkMutex {
 public:
  void lock() {
    if (owner_.load(std::memory_order_relaxed) != pthread_self()) {
      mutex_.lock();
      owner_.store(pthread_self(), std::memory_order_relaxed);
    }
    ++depth_;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<pthread_t> owner_{0};  // 0: nobody
  int depth_ = 0;                    // guarded by mutex_
};
ForkMutex& MutexOf(ForkLock lock);

class HeldAcrossFork {
 public:
  explicit HeldAcrossFork(ForkLock lock) : lock_(MutexOf(lock)) {}

 private:
  std::lock_guard<ForkMutex> lock_;
};

}  // namespace ropeway
