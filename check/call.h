// One call of the program, from the hook's first line to its last. Calls that come out of the target itself, or out of another hook, are
// passed on and not kept.
#pragma once

#include <mutex>
#include <new>

#include "check/address_sanitizer.h"
#include "check/books.h"
#include "check/current.h"
#include "check/faults.h"
#include "check/host_access.h"
#include "check/next.h"

namespace ropeway::check {

class Call {
 public:
  Call(const char* name, const void* caller);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Runs keep(books, operation) under the lock if the call is the program's own. A program that is out of memory goes on, unwatched.
  template <typename Function>
  void Keep(Function keep) noexcept {
    if (depth_ != 1) return;
    try {
      const PythonSite python = FindPythonSite(caller_);  // takes Python's lock, so before ours
      const std::lock_guard lock(Mutex());
      Books& books = Books::Get();
      const uint32_t operation = books.operations.NumberOf(name_, caller_, python);
      if (!books.operations.At(operation).inside) keep(books, operation);
      HostAccess::Settle(books);
    } catch (const std::bad_alloc&) {
    }
  }

  // The same in front of a call that can be refused: what it finds and changes counts when Settle() comes behind it.
  template <typename Function>
  void Judge(Function judge) noexcept {
    Keep([&](Books& books, uint32_t operation) { books.Draft(&drafts_, [&] { judge(books, operation); }); });
  }
  void Settle() noexcept {
    if (!drafts_.empty()) Keep([&](Books& books, uint32_t) { books.Settle(drafts_); });
  }

  // What the library is given for the address of bytes that the call moves: their twin. In programs built with AddressSanitizer it is asked
  // about them first.
  template <typename T>
  T* Bytes(T* address, size_t size) noexcept {
    if (HasAddressSanitizer()) Ask(RangeOf(address, size));
    return static_cast<T*>(HostAccess::Twin(address));
  }
  template <typename T>
  T* Rows(T* address, size_t pitch, size_t width, size_t height) noexcept {
    return height == 0 || width == 0 ? address : Bytes(address, pitch * (height - 1) + width);
  }
  // The same for arrays, as long as the list lives.
  TwinList List(void** addresses, const size_t* sizes, size_t count) noexcept;

  // The code that it answers instead of being made, when it is the program's own; 0 for none.
  int Fault() const { return depth_ == 1 ? FaultOf(name_) : 0; }

  static std::mutex& Mutex();
  // Whether this thread is in a hook, or in the library through one. For signal handlers, too.
  static bool Inside();

 private:
  void Ask(const Range& range) noexcept;

  const char* const name_;
  const uintptr_t caller_;
  int depth_;
  Books::Drafts drafts_;
};

#define RW_CALL(name) RW_CALL_AS(aclError, name)
#define RW_CALL_AS(Result, name)                                   \
  ::ropeway::check::Call call(#name, __builtin_return_address(0)); \
  if (const int fault = call.Fault()) return static_cast<Result>(fault)

// A hook of the usual shape: the call itself, then, if it succeeded, what is kept of it, with `books` and `operation` at hand.
#define RW_KEPT(name, parameters, arguments, ...)                                               \
  RW_HOOK(name);                                                                                \
  aclError name parameters {                                                                    \
    RW_CALL(name);                                                                              \
    const aclError code = NEXT(name) arguments;                                                 \
    if (code == ACL_SUCCESS) call.Keep([&](Books& books, uint32_t operation) { __VA_ARGS__; }); \
    return code;                                                                                \
  }

// Judged before the call: what it passes, or ends, may be over when it returns. Counts only if it was not refused.
#define RW_AT_ONCE(name, parameters, arguments, ...)                    \
  RW_HOOK(name);                                                        \
  aclError name parameters {                                            \
    RW_CALL(name);                                                      \
    call.Judge([&](Books& books, uint32_t operation) { __VA_ARGS__; }); \
    const aclError code = NEXT(name) arguments;                         \
    if (code == ACL_SUCCESS) call.Settle();                             \
    return code;                                                        \
  }

// The first one again for what was put into `stream`: `index` is the model's number of it.
#define RW_QUEUED(name, ...) RW_QUEUED_AS(aclError, name, __VA_ARGS__)
#define RW_QUEUED_AS(Result, name, ...) RW_QUEUED_IF(true, Result, name, __VA_ARGS__)
// Nothing is put there unless `any`.
#define RW_QUEUED_IF(any, Result, name, parameters, arguments, ...) \
  RW_HOOK(name);                                                    \
  Result name parameters {                                          \
    RW_CALL_AS(Result, name);                                       \
    const Result code = NEXT(name) arguments;                       \
    if (code != Result{} || !(any)) return code;                    \
    const aclrtStream named = Named(stream);                        \
    call.Keep([&](Books& books, uint32_t operation) {               \
      const StreamIndex index = books.StreamOf(named);              \
      __VA_ARGS__;                                                  \
    });                                                             \
    return code;                                                    \
  }

}  // namespace ropeway::check
