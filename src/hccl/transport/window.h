// Memory of the program that a thread of ours reads or writes. The program may take it away at any moment (a stream is
// aborted, and its buffers are freed): once Close has returned, nobody touches it any more. Uses are short, one system
// call that does not block or one copy of a chunk, so whoever closes waits for a moment at most. Any number of threads use it at once.
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
    open_ = false;  // before it looks for users, who look in the other order
    for (uint32_t users; (users = users_) != 0;) users_.wait(users);
    for (Reader* const reader : std::exchange(readers_, {})) reader->Rescue();
  }
  bool closed() const { return !open_; }  // who needs to know that it stays open uses it
  // Calls use() unless the lease is closed; tells whether it did. After false all readers have been told.
  template <typename Function>
  bool Use(Function&& use) {
    ++users_;
    const bool open = open_;
    if (open) use();
    if (--users_ == 0 && !open_) users_.notify_all();
    if (!open) LockGuard lock(mutex_);
    return open;
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
  std::atomic<uint32_t> users_{0};
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
