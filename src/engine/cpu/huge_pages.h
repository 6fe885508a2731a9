// Huge pages for shared memory. Most systems give them to private memory only, and without them a copy runs at two thirds of the
// speed; but they can be made afterwards, at some milliseconds for 2 MiB. A thread in the background does that, and ends when all is
// done. Memory that nobody has touched yet cannot be helped, so the thread looks again a few times, later and later.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/mutex.h"

namespace ropeway::cpu {

class HugePages {
 public:
  HugePages() = default;
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

  void Want(void* memory, size_t size);
  // Nobody looks at the memory any more when this returns. For the start of a range that is wanted, or not.
  void Forget(void* memory);

 private:
  struct Range {
    size_t size;
    std::vector<bool> done;  // one per huge page
  };
  void Run();
  // True when there is nothing more to do.
  bool Round() RW_REQUIRES(mutex_);

  Mutex mutex_{LockRank::kHugePages};
  Condition changed_;
  std::map<char*, Range> wanted_ RW_GUARDED_BY(mutex_);
  char* busy_ RW_GUARDED_BY(mutex_) = nullptr;  // the range that the thread is working on
  bool running_ RW_GUARDED_BY(mutex_) = false;
  bool stop_ RW_GUARDED_BY(mutex_) = false;
  bool renewed_ RW_GUARDED_BY(mutex_) = false;  // something was wanted since the last round
};

}  // namespace ropeway::cpu
