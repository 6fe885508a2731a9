// The outcome of an internal function. A Status is two words that travel in a register; the text that goes with a
// failure waits in the thread (see error_log.h), because a Status never crosses threads. An OK Status costs nothing.
#pragma once

#include <cstdint>
#include <utility>

namespace ropeway {

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr bool ok() const { return code_ == 0; }
  constexpr int code() const { return code_; }
  // Whether aclrtGetLastError shall show this code. The API's outer layer and some quiet answers leave it alone.
  constexpr bool sets_last_error() const { return sets_last_error_; }

 private:
  friend Status MakeFailure(int code, bool sets_last_error);
  int32_t code_ = 0;
  bool sets_last_error_ = false;
};

constexpr Status Ok() { return Status(); }

// A failure without a text of its own. Use the three functions below where something can be said.
inline Status MakeFailure(int code, bool sets_last_error) {
  Status status;
  status.code_ = code;
  status.sets_last_error_ = sets_last_error;
  return status;
}

// Each states what was wrong as "argument value, limit, next step"; the entry point puts the call's name in front.
//   Reject: the outer layer's answer (100000 and friends), never seen by aclrtGetLastError.
//   Fail:   the runtime layer's answer.
//   Decline: a runtime-layer code that the original keeps out of aclrtGetLastError (runtime.md 9.2).
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Reject(int code, const char* format, ...);
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Fail(int code, const char* format, ...);
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Decline(int code, const char* format, ...);

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(status) {}  // NOLINT: an error converts, so that RW_TRY can return it
  Result(T value) : value_(std::move(value)) {}  // NOLINT: so does a value
  bool ok() const { return status_.ok(); }
  Status status() const { return status_; }
  T& value() { return value_; }

 private:
  Status status_;
  T value_{};
};

// The only macros that return from a function.
#define RW_TRY(expression)                                                     \
  do {                                                                         \
    if (::ropeway::Status rw_status = (expression); !rw_status.ok()) [[unlikely]] \
      return rw_status;                                                        \
  } while (false)

#define RW_CONCAT_(a, b) a##b
#define RW_CONCAT(a, b) RW_CONCAT_(a, b)
#define RW_TRY_SET(declaration, expression)                     \
  auto RW_CONCAT(rw_result_, __LINE__) = (expression);          \
  if (!RW_CONCAT(rw_result_, __LINE__).ok()) [[unlikely]]       \
    return RW_CONCAT(rw_result_, __LINE__).status();            \
  declaration = std::move(RW_CONCAT(rw_result_, __LINE__).value())

}  // namespace ropeway
