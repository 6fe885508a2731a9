// Memory of the program that a thread of ours reads or writes. The program may take it away at any moment (a stream is
// aborted, and its buffers are freed): once Close has returned, nobody touches it any more. Uses are short, one system
// call that does not block or one copy of a chunk, so whoever closes waits for a moment at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <utility>

#include "base/mutex.h"

namespace ropeway::comm {

// The permission to touch memory, wherever that is.
class Lease {
 public:
  // Somebody who has promised bytes of the memory to others.
  class Reader {
   public:
    virtual ~Reader() = default;
    // The lease is about to close, and the memory is still there: the last chance to copy what is missing.
    virtual void Rescue() = 0;
  };

  void Close() {
    LockGuard lock(mutex_);
    for (Reader* const reader : std::exchange(readers_, {})) reader->Rescue();
    open_ = false;
  }
  bool closed() const { return !open_; }  // who needs to know that it stays open uses it
  // Calls use() unless the lease is closed; tells whether it did.
  template <typename Function>
  bool Use(Function&& use) {
    LockGuard lock(mutex_);
    if (open_) use();
    return open_;
  }

  // False when it is closed. Else `reader` is told before it closes, until it is removed.
  bool Add(Reader* reader) {
    LockGuard lock(mutex_);
    if (open_) readers_.insert(reader);
    return open_;
  }
  void Remove(Reader* reader) {
    LockGuard lock(mutex_);
    readers_.erase(reader);
  }

 private:
  Mutex mutex_{LockRank::kHcclLease};
  std::atomic<bool> open_{true};  // changed under the lock
  std::set<Reader*> readers_ RW_GUARDED_BY(mutex_);
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
