// Kernels of a captured graph that are updated together: a task group (rules/graphs.md 6). An update is a whole set of kernels, which takes
// effect when the stream that it was submitted to has come to it, for replays that were submitted later than the update.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/host_call.h"
#include "engine/task.h"

namespace ropeway {

class KernelGroup {
 public:
  using Kernels = std::vector<std::shared_ptr<KernelCall>>;
  // A set, and the number of the last replay that was submitted in front of it: replays have numbers from 1 on.
  struct Set {
    uint64_t behind = 0;
    Kernels kernels;
  };

  // While the group is captured: a call that runs what is the latest of `kernel`, which is the group's then. Without memory it throws, and
  // the kernel stays where it is.
  static std::unique_ptr<KernelCall> Add(const std::shared_ptr<KernelGroup>& group, std::unique_ptr<KernelCall>* kernel);
  // Of the group as it was captured.
  size_t size() const;

  // A marker for the task with which `set` takes effect. Nobody asks for replays up to `over` any more.
  static Marker* Replacement(std::shared_ptr<KernelGroup> group, Set set, uint64_t over);

 private:
  class Member;
  class Update;
  std::shared_ptr<KernelCall> Of(uint64_t replay, size_t index) const;

  mutable Mutex mutex_{LockRank::kKernelGroup};
  std::list<Set> sets_ RW_GUARDED_BY(mutex_){1};  // in the order in which they took effect; never empty
};

// What a stream has been given between the begin of an update and its end.
struct GroupUpdate {
  GroupUpdate(void* of, std::shared_ptr<KernelGroup> updated) : handle(of), group(std::move(updated)), wanted(group->size()) {
    kernels.reserve(wanted);  // so that nothing can go wrong under the stream's lock
  }
  ~GroupUpdate() {
    for (KernelCall* const kernel : kernels) delete kernel;
  }
  GroupUpdate(const GroupUpdate&) = delete;
  GroupUpdate& operator=(const GroupUpdate&) = delete;

  bool full() const { return kernels.size() == wanted; }
  KernelGroup::Kernels Take();

  void* const handle;  // of the group
  const std::shared_ptr<KernelGroup> group;
  const size_t wanted;
  std::vector<KernelCall*> kernels;  // its own
};

}  // namespace ropeway
