// The outcome of an internal function: nothing, or a failure with its code and its text. One word, which owns what a failure says and
// moves up with it; an OK Status costs nothing.
#pragma once

#include <cstdint>
#include <utility>

namespace ropeway {

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr Status(Status&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  constexpr Status& operator=(Status&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  constexpr ~Status() {
    if (word_ != 0) [[unlikely]]
      Forget(word_);
  }

  constexpr bool ok() const { return word_ == 0; }
  constexpr int code() const { return ok() ? 0 : CodeOf(word_); }
  // Whether aclrtGetLastError shall show this code. The API's outer layer and some quiet answers leave it alone.
  bool sets_last_error() const;
  // What was wrong; "" where nothing can be said, or there was no memory to say it.
  const char* text() const;

  // The same failure, kept out of aclrtGetLastError.
  Status Quiet() &&;

  // A failure without a text of its own. Use the three functions below where something can be said.
  static Status Bare(int code, bool sets_last_error) {
    Status status;
    status.word_ = uintptr_t{static_cast<uint32_t>(code)} << 2 | uintptr_t{sets_last_error} << 1 | kBare;
    return status;
  }
  [[gnu::cold]] static Status Failure(int code, bool sets_last_error, const char* text);

 private:
  struct Said;
  static constexpr uintptr_t kBare = 1;
  static bool IsBare(uintptr_t word) { return (word & kBare) != 0; }
  static const Said& SaidOf(uintptr_t word) { return *reinterpret_cast<const Said*>(word); }
  // By value: a Status whose address nobody takes stays in a register.
  [[gnu::cold]] static void Forget(uintptr_t word);
  [[gnu::cold]] static int CodeOf(uintptr_t word);

  uintptr_t word_ = 0;  // 0, code << 2 | sets_last_error << 1 | kBare, or the address of what was said
};

constexpr Status Ok() { return Status(); }

// Each states what was wrong as "argument value, limit, next step"; the entry point puts the call's name in front.
//   Reject: the outer layer's answer (100000 and friends), never seen by aclrtGetLastError.
//   Fail:   the runtime layer's answer, or libhccl's.
//   Decline: a runtime-layer code that the original keeps out of aclrtGetLastError (rules/errors.md 4).
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Reject(int code, const char* format, ...);
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Fail(int code, const char* format, ...);
[[gnu::cold, gnu::format(printf, 2, 3)]] Status Decline(int code, const char* format, ...);

// What the exception that is being handled means: `no_memory` for bad_alloc, `internal` for the others.
[[gnu::cold]] Status FromException(int no_memory, int internal);

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: an error converts, so that RW_TRY can return it
  Result(T value) : value_(std::move(value)) {}          // NOLINT: so does a value
  bool ok() const { return status_.ok(); }
  // Taken out.
  Status status() { return std::move(status_); }
  T& value() { return value_; }

 private:
  Status status_;
  T value_{};
};

// The only macros that return from a function.
#define RW_TRY(expression)                                                        \
  do {                                                                            \
    if (::ropeway::Status rw_status = (expression); !rw_status.ok()) [[unlikely]] \
      return rw_status;                                                           \
  } while (false)

#define RW_CONCAT_(a, b) a##b
#define RW_CONCAT(a, b) RW_CONCAT_(a, b)
#define RW_TRY_SET(declaration, expression)               \
  auto RW_CONCAT(rw_result_, __LINE__) = (expression);    \
  if (!RW_CONCAT(rw_result_, __LINE__).ok()) [[unlikely]] \
    return RW_CONCAT(rw_result_, __LINE__).status();      \
  declaration = std::move(RW_CONCAT(rw_result_, __LINE__).value())

}  // namespace ropeway
