// Memory of the program that a thread of ours reads or writes. The program may take it away at any moment (a stream is
// aborted, and its buffers are freed): once Close has returned, nobody touches it any more. Uses are short, one system
// call that does not block or one copy of a chunk, so whoever closes waits for a moment at most.
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace ropeway::comm {

// The permission to touch memory, wherever that is.
class Lease {
 public:
  void Close() {
    LockGuard lock(mutex_);
    open_ = false;
  }
  // Calls use() unless the lease is closed; tells whether it did.
  template <typename Function>
  bool Use(Function&& use) {
    LockGuard lock(mutex_);
    if (open_) use();
    return open_;
  }

 private:
  Mutex mutex_{LockRank::kHcclLease};
  bool open_ RW_GUARDED_BY(mutex_) = true;
};

// The permission together with the memory.
class Window : public Lease {
 public:
  explicit Window(void* data) : data_(static_cast<char*>(data)) {}
  template <typename Function>
  bool Use(Function&& use) {
    return Lease::Use([&] { use(data_); });
  }
  // For those who ask the lease before each touch.
  char* data() const { return data_; }

 private:
  char* const data_;
};

}  // namespace ropeway::comm
