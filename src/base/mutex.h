// Locks that two pairs of eyes look after. clang checks what is written beside a field or a function (RW_GUARDED_BY, RW_REQUIRES) whenever
// it compiles the tree with -Wthread-safety. A build with assertions checks the order in which a thread takes locks (base/lock_rank.h).
// Neither costs anything in a release build.
//
// clang looks at one function at a time, and a lambda is a function of its own.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/lock_rank.h"

#if defined(__clang__)
#define RW_LOCK_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define RW_LOCK_ATTRIBUTE(attribute)
#endif

#define RW_CAPABILITY RW_LOCK_ATTRIBUTE(capability("mutex"))
#define RW_SCOPED_CAPABILITY RW_LOCK_ATTRIBUTE(scoped_lockable)
// Fields: touched, or what they point to touched, with the lock held only.
#define RW_GUARDED_BY(lock) RW_LOCK_ATTRIBUTE(guarded_by(lock))
#define RW_PT_GUARDED_BY(lock) RW_LOCK_ATTRIBUTE(pt_guarded_by(lock))
// Functions: called with the lock held; or they take it, or give it back.
#define RW_REQUIRES(...) RW_LOCK_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define RW_ACQUIRE(...) RW_LOCK_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RW_RELEASE(...) RW_LOCK_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RW_RETURN_CAPABILITY(lock) RW_LOCK_ATTRIBUTE(lock_returned(lock))
// The way out where clang cannot follow; the reason stands beside it.
#define RW_NOT_CHECKED RW_LOCK_ATTRIBUTE(no_thread_safety_analysis)

namespace ropeway {

class RW_CAPABILITY Mutex : RankedLock {
 public:
  constexpr explicit Mutex(LockRank rank) : RankedLock(rank) {}
  void lock() RW_ACQUIRE() {
    Taking();
    mutex_.lock();
  }
  void unlock() RW_RELEASE() {
    Left();
    mutex_.unlock();
  }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// A child of fork may unlock what its parent's thread had: the system's knows its owner by a number that fork changes.
class RW_CAPABILITY RecursiveMutex {
 public:
  constexpr explicit RecursiveMutex(LockRank rank) : mutex_(rank) {}
  void lock() RW_ACQUIRE() RW_NOT_CHECKED {  // the inner mutex may be this thread's already
    if (owner_.load(std::memory_order_relaxed) != pthread_self()) {
      mutex_.lock();
      owner_.store(pthread_self(), std::memory_order_relaxed);
    }
    ++depth_;
  }
  void unlock() RW_RELEASE() RW_NOT_CHECKED {  // as above
    if (--depth_ > 0) return;
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  friend class Condition;
  Mutex mutex_;
  std::atomic<pthread_t> owner_{0};  // 0: nobody
  int depth_ RW_GUARDED_BY(mutex_) = 0;
};

// Holds a lock until it goes, or until unlock.
template <typename Lock>
class RW_SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Lock& lock) RW_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() RW_RELEASE() {
    if (held_) lock_.unlock();
  }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  void lock() RW_ACQUIRE() {
    lock_.lock();
    held_ = true;
  }
  void unlock() RW_RELEASE() {
    held_ = false;
    lock_.unlock();
  }

 private:
  Lock& lock_;
  bool held_ = true;
};

// Lets go of a lock that the caller has, and takes it back in the end.
template <typename Lock>
class RW_SCOPED_CAPABILITY LockGap {
 public:
  explicit LockGap(Lock& lock) RW_RELEASE(lock) : lock_(lock) { lock_.unlock(); }
  ~LockGap() RW_RELEASE() { lock_.lock(); }
  LockGap(const LockGap&) = delete;
  LockGap& operator=(const LockGap&) = delete;

 private:
  Lock& lock_;
};

class Condition {
 public:
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

  using Time = std::chrono::steady_clock::time_point;  // max(): never
  void wait(Mutex& mutex) RW_REQUIRES(mutex) { wait_until(mutex, Time::max()); }
  // False: it is that late.
  bool wait_until(Mutex& mutex, Time when) RW_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    bool in_time = true;
    if (when == Time::max()) {
      changed_.wait(lock);  // that time would overflow on the way to another clock
    } else {
      in_time = changed_.wait_until(lock, when) == std::cv_status::no_timeout;
    }
    lock.release();
    return in_time;
  }
  // Until `done`, a function that says which lock it requires: clang does not see here that it is this one. False: not in time.
  template <typename Done>
  bool wait_until(Mutex& mutex, Time when, Done done) RW_REQUIRES(mutex) RW_NOT_CHECKED {
    while (!done()) {
      if (!wait_until(mutex, when)) return done();
    }
    return true;
  }

 private:
  std::condition_variable changed_;
};

}  // namespace ropeway
