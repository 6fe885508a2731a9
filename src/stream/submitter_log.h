// Which thread submitted a task, for the exception callbacks (rules/errors.md 6): the points of a stream at which the submitting thread
// changed. A thread that keeps a stream to itself, as most do, writes one entry and costs its later submits nothing
// (Stream::obstacles_); two threads that take turns write one each time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace ropeway {

class SubmitterLog {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;

  // Task `first` and those behind it are the thread's. `completed`: the tasks that nobody will ask about any more. Throws std::bad_alloc,
  // without effect.
  void Change(uint64_t first, uint32_t thread, uint64_t completed);
  uint32_t ThreadOf(uint64_t sequence) const;
  void Clear();

 private:
  struct Entry {
    uint64_t first;
    uint32_t thread;
  };
  void ForgetUpTo(uint64_t completed) RW_REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kSubmitterLog};
  std::vector<Entry> entries_ RW_GUARDED_BY(mutex_);  // growing in `first`; no more than a stream has room for tasks, and as many again
};

}  // namespace ropeway
