// What ThreadSanitizer in the program that loaded us cannot see by itself: this library is not instrumented, so its atomics order nothing
// for it, while what it passes to libc (memcpy, free) counts as accesses. So it is told where work is handed over, and to overlook what
// our own code does meanwhile. Without ThreadSanitizer each of these is a look at one flag.
//
// A build of ours that is instrumented (preset tsan) tells nothing: there the detector has to judge our code, too.
//
// Nothing but this header, so that libhccl can use it as well.
#pragma once

extern "C" {
[[gnu::weak]] void __tsan_acquire(void* object);
[[gnu::weak]] void __tsan_release(void* object);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
}

namespace ropeway::race_detector {

// ThreadSanitizer is in this process.
inline bool Present() { return &__tsan_acquire != nullptr; }

#if defined(ROPEWAY_TSAN)
inline constexpr bool g_told = false;
#else
// All four, for the runtime that may have some of them only. Hidden: each library asks for itself, and a look is one instruction.
[[gnu::visibility("hidden")]] inline const bool g_told = &__tsan_acquire != nullptr && &__tsan_release != nullptr &&
                                                         &__tsan_ignore_thread_begin != nullptr && &__tsan_ignore_thread_end != nullptr;
#endif

// What this thread did before HandOver(x) happens before what another does after a later TakeOver(x).
inline void HandOver(const void* object) {
  if (g_told) [[unlikely]]
    __tsan_release(const_cast<void*>(object));
}
inline void TakeOver(const void* object) {
  if (g_told) [[unlikely]]
    __tsan_acquire(const_cast<void*>(object));
}

// A stretch of our own code on a thread; functions of the user called from it are put into a UsersCode.
class OurCode {
 public:
  OurCode() {
    if (g_told) [[unlikely]]
      __tsan_ignore_thread_begin();
  }
  ~OurCode() {
    if (g_told) [[unlikely]]
      __tsan_ignore_thread_end();
  }
  OurCode(const OurCode&) = delete;
  OurCode& operator=(const OurCode&) = delete;
};

class UsersCode {
 public:
  UsersCode() {
    if (g_told) [[unlikely]]
      __tsan_ignore_thread_end();
  }
  ~UsersCode() {
    if (g_told) [[unlikely]]
      __tsan_ignore_thread_begin();
  }
  UsersCode(const UsersCode&) = delete;
  UsersCode& operator=(const UsersCode&) = delete;
};

}  // namespace ropeway::race_detector
