// fork. The child has one thread, and finds every lock as the parent's other threads left it at that moment.
//
// Where the parent had devices up, they stay the parent's: the child is told so by every call that needs one (507033), before the
// call touches anything (api/entry.h). A child that was forked earlier uses the library as its own. For its sake, fork waits for
// the locks of everything that works without a device, and the child finds them free.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "base/status.h"

namespace ropeway {

// --- Children of a process with devices ---------------------------------------------------------------------------------

namespace internal {
extern constinit std::atomic<bool> g_forked_child;
}  // namespace internal

inline bool InForkedChild() { return internal::g_forked_child.load(std::memory_order_relaxed); }
// The answer to whatever needs a device there: 507033.
[[gnu::cold]] Status RefuseForkedChild();
// --- Locks that fork waits for ------------------------------------------------------------------------------------------

// What a callback or a driver does under one of them may fork, too: each is recursive.
namespace fork_lock {
extern constinit RecursiveMutex init;         // aclInit and aclFinalize, with their callbacks
extern constinit RecursiveMutex start;        // settings, the runtime, the service for other processes
extern constinit RecursiveMutex registries;   // callbacks and texts of the process; held for a few instructions
extern constinit RecursiveMutex descriptors;  // the list of base/file_descriptor.h
}  // namespace fork_lock

// Children that are forked from now on are refused.
void DevicesAreUp() RW_REQUIRES(fork_lock::start);

}  // namespace ropeway
