// The outcome of a function inside libhccl.so: a HcclResult, with a text that waits in the thread until the API function files it
// for aclGetRecentErrMsg. The shape of src/base/status.h; this library stands on the public headers alone, so it has its own.
#pragma once

#include <atomic>
#include <utility>

#include "acl/acl_base.h"
#include "base/race_detector.h"
#include "hccl/hccl_types.h"

namespace ropeway::comm {

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr explicit Status(HcclResult code) : code_(code) {}
  constexpr bool ok() const { return code_ == HCCL_SUCCESS; }
  constexpr HcclResult code() const { return code_; }

 private:
  HcclResult code_ = HCCL_SUCCESS;
};

constexpr Status Ok() { return Status(); }

// States what was wrong as "argument value, limit, next step"; Entry puts the call's name in front.
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Fail(HcclResult code, const char* format, ...);

// What a call of the runtime answered: HCCL_E_RUNTIME with the runtime's number; its text is filed already.
[[gnu::cold]] Status RuntimeRefused(const char* runtime_call, aclError code);
inline Status FromRuntime(const char* runtime_call, aclError code) {
  if (code == 0) [[likely]]
    return Ok();
  return RuntimeRefused(runtime_call, code);
}

inline Status RequirePointer(const char* name, const void* pointer) {
  if (pointer != nullptr) [[likely]]
    return Ok();
  return Fail(HCCL_E_PTR, "%s is NULL", name);
}

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(status) {}     // NOLINT: an error converts, so that RW_TRY can return it
  Result(T value) : value_(std::move(value)) {}  // NOLINT: so does a value
  bool ok() const { return status_.ok(); }
  Status status() const { return status_; }
  T& value() { return value_; }

 private:
  Status status_;
  T value_{};
};

// --- Forked children ----------------------------------------------------------------------------------------------------

// A child's I/O thread and connections stay with its parent, and so do the runtime's devices. One that was forked when either was
// in use is refused before a call touches anything; one that was forked earlier begins afresh.
enum class Use : unsigned char { kNone, kInUse, kForked };
extern constinit std::atomic<Use> g_use;
// The first call of a process, or any of a child that is refused: HCCL_E_RUNTIME.
[[gnu::cold]] Status BeginUse();

// In front of everything that takes a lock.
inline Status RequireOwnProcess() {
  if (g_use.load(std::memory_order_relaxed) == Use::kInUse) [[likely]]
    return Ok();
  return BeginUse();
}

// --- Entry --------------------------------------------------------------------------------------------------------------

// What the exception that is being handled means to a caller.
[[gnu::cold]] Status FromException();
// Files the text of a failure and returns its code.
[[gnu::cold]] HcclResult FileFailure(const char* call, Status status);

// The body of every API function: no exception leaves it, and a failure's text is filed under the call's name. A forked child is
// refused here.
template <typename Body>
inline HcclResult Entry(const char* call, Body&& body) noexcept {
  const race_detector::OurCode ours;
  Status status;
  try {
    status = RequireOwnProcess();
    if (status.ok()) [[likely]]
      status = body();
  } catch (...) {
    status = FromException();
  }
  if (status.ok()) [[likely]]
    return HCCL_SUCCESS;
  return FileFailure(call, status);
}

// "HCCL_E_PARA", or "HCCL_E_RESERVED" for a number that is no result.
const char* ResultName(HcclResult code);
const char* ResultMeaning(HcclResult code);

// The only macros that return from a function.
#define RW_TRY(expression)                                                              \
  do {                                                                                  \
    if (::ropeway::comm::Status rw_status = (expression); !rw_status.ok()) [[unlikely]] \
      return rw_status;                                                                 \
  } while (false)

#define RW_CONCAT_(a, b) a##b
#define RW_CONCAT(a, b) RW_CONCAT_(a, b)
#define RW_TRY_SET(declaration, expression)               \
  auto RW_CONCAT(rw_result_, __LINE__) = (expression);    \
  if (!RW_CONCAT(rw_result_, __LINE__).ok()) [[unlikely]] \
    return RW_CONCAT(rw_result_, __LINE__).status();      \
  declaration = std::move(RW_CONCAT(rw_result_, __LINE__).value())

}  // namespace ropeway::comm
