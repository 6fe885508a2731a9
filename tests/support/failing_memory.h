// Memory that runs out once, at a chosen place: operator new throws. The program that includes this has the one operator new of its
// process, of libascendcl.so too.
//
// A place is the nth allocation of a thread (FailNth), or, for those who want to see all of them fail (Arm), a stack of calls and how often
// it came by since the alarm was set. A place that has failed once does not fail again: whoever tries until nothing fails has seen every
// allocation of a call fail, whatever the tries before have left in caches.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace failing_memory {

enum class Threads { kNone, kThis, kOthers };

class Places {
 public:
  // True: this one shall fail.
  bool Visit(uint64_t stack) {
    const std::lock_guard lock(mutex_);
    uint64_t times = 0;
    for (size_t i = 0; i < visits_; ++i) times += visited_[i] == stack;
    if (visits_ == kMost || failures_ == kMost) std::abort();
    visited_[visits_++] = stack;
    const uint64_t place = stack * 31 + times;
    if (hit_) return false;
    for (size_t i = 0; i < failures_; ++i) {
      if (failed_[i] == place) return false;
    }
    failed_[failures_++] = place;
    hit_ = true;
    return true;
  }
  void Begin() {
    const std::lock_guard lock(mutex_);
    visits_ = 0;
    hit_ = false;
  }
  bool hit() {
    const std::lock_guard lock(mutex_);
    return hit_;
  }
  size_t failures() const { return failures_; }

 private:
  static constexpr size_t kMost = 4096;
  std::mutex mutex_;
  uint64_t visited_[kMost];  // since Begin
  uint64_t failed_[kMost];
  size_t visits_ = 0;
  size_t failures_ = 0;
  bool hit_ = false;
};

inline Places g_places;
inline std::atomic<Threads> g_threads{Threads::kNone};
inline thread_local bool t_asks = false;  // the thread that set the alarm

inline uint64_t HashOfStack() {
  struct Walk {
    uint64_t hash = 14695981039346656037u;
    int depth = 0;
  } walk;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        auto* at = static_cast<Walk*>(argument);
        at->hash = (at->hash ^ _Unwind_GetIP(context)) * 1099511628211u;
        return ++at->depth == 24 ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &walk);
  return walk.hash;
}

// From now on the nth operator new of this thread throws, and only that one, until the object is gone.
class FailNth {
 public:
  explicit FailNth(int64_t nth) {
    t_left = nth;
    t_failed = false;
  }
  ~FailNth() { t_left = 0; }
  FailNth(const FailNth&) = delete;
  FailNth& operator=(const FailNth&) = delete;
  bool failed() const { return t_failed; }

  static bool Due() {
    if (t_left == 0 || --t_left != 0) return false;
    t_failed = true;
    return true;
  }

 private:
  inline static thread_local int64_t t_left = 0;  // 0: none shall fail
  inline static thread_local bool t_failed = false;
};

inline bool ShallFail() {
  if (FailNth::Due()) return true;
  const Threads threads = g_threads.load(std::memory_order_acquire);
  if (threads == Threads::kNone || t_asks != (threads == Threads::kThis)) return false;
  return g_places.Visit(HashOfStack());
}

// Between the two, the next place fails that has not yet. True from Disarm: one did.
inline void Arm(Threads threads) {
  HashOfStack();  // what it loads, it loads now
  t_asks = true;
  g_places.Begin();
  g_threads.store(threads, std::memory_order_release);
}
inline bool Disarm() {
  g_threads.store(Threads::kNone, std::memory_order_release);
  return g_places.hit();
}

inline constexpr char kOutOfReach[] = "the library has a C++ runtime of its own, whose allocations cannot be made to fail";

// Whether a call that is known to allocate comes by here: a library that was linked with a C++ runtime of its own does not. Asked in a
// child, so that the call leaves nothing behind.
template <typename Call>
bool ReachesLibrary(Call call) {
  const pid_t child = fork();
  if (child == 0) {
    const FailNth first(1);
    call();
    _exit(first.failed() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace failing_memory

// NOLINTBEGIN: these are the global ones
void* operator new(size_t size) {
  void* memory = failing_memory::ShallFail() ? nullptr : std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  void* memory = failing_memory::ShallFail() ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return failing_memory::ShallFail() ? nullptr : std::malloc(size != 0 ? size : 1);
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto unit = static_cast<size_t>(alignment);
  return failing_memory::ShallFail() ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void* operator new[](size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND
