// What everybody who runs tasks works with.
#pragma once

#include <memory>

#include "engine/backend.h"
#include "engine/sched/shared_work.h"
#include "engine/sched/value_watch.h"

namespace ropeway::sched {

struct Workshop {
  template <typename MakeBackend>
  explicit Workshop(MakeBackend make_backend) : sharer(), backend(make_backend(sharer)), values(*backend, sharer.volleys()) {}

  // Whether it is worth looking: as far as the first task tells, they are enough for several hands.
  bool MayBeVolley(const TaskRun& run) const {
    if (run.count() < 2 || run[0].kind > TaskKind::kSetWords) return false;
    if (run[0].kind == TaskKind::kCopyByDesc) return true;  // the backend can tell
    const size_t size = TaskBytes(run[0]);
    return size >= Traits::kSmallestStreamed && size * run.count() >= backend->traits().share_from;
  }
  // Runs the first tasks side by side, where that makes no difference to anybody; how many.
  size_t RunVolley(VolleyFeed& feed) {
    if (values.AnybodyWaits()) return 0;
    size_t count = 0;
    {
      const Volleys::Opened volley(sharer.volleys());
      if (volley.allowed() && !values.AnybodyWaitsNow()) count = backend->RunVolley(feed);
    }
    values.MemoryChanged();  // somebody may have looked meanwhile, to whom it did not count
    return count;
  }
  // Somebody waits for the end of the volleys that are open.
  bool VolleysShallEnd() const { return sharer.volleys().Forbidden() || values.AnybodyWaits(); }

  WorkSharer sharer;
  const std::unique_ptr<Backend> backend;
  ValueWatch values;
  const AddressJudge* judge = nullptr;
};

}  // namespace ropeway::sched
