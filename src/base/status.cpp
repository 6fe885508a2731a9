#include "base/status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace ropeway {

struct Status::Said {
  int code;
  bool sets_last_error;
  char text[];
};

namespace {

constexpr size_t kMaxText = 1024;

Status Formatted(int code, bool sets_last_error, const char* format, va_list arguments) {
  char text[kMaxText];
  vsnprintf(text, sizeof(text), format, arguments);
  return Status::Failure(code, sets_last_error, text);
}

}  // namespace

Status Status::Failure(int code, bool sets_last_error, const char* text) {
  Status status = Bare(code, sets_last_error);
  const size_t size = std::strlen(text) + 1;
  auto* said = static_cast<Said*>(::operator new(sizeof(Said) + size, std::nothrow));
  if (said == nullptr) return status;  // the code says what it was
  said->code = code;
  said->sets_last_error = sets_last_error;
  std::memcpy(said->text, text, size);
  status.word_ = reinterpret_cast<uintptr_t>(said);
  return status;
}

void Status::Forget(uintptr_t word) {
  if (!IsBare(word)) ::operator delete(reinterpret_cast<void*>(word));
}

int Status::CodeOf(uintptr_t word) { return IsBare(word) ? static_cast<int>(static_cast<uint32_t>(word >> 2)) : SaidOf(word).code; }

bool Status::sets_last_error() const { return IsBare(word_) ? (word_ & 2) != 0 : !ok() && SaidOf(word_).sets_last_error; }

const char* Status::text() const { return ok() || IsBare(word_) ? "" : SaidOf(word_).text; }

Status Status::Quiet() && { return ok() ? Ok() : Failure(code(), false, text()); }

Status Reject(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = Formatted(code, false, format, arguments);
  va_end(arguments);
  return status;
}

Status Fail(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = Formatted(code, true, format, arguments);
  va_end(arguments);
  return status;
}

Status Decline(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = Formatted(code, false, format, arguments);
  va_end(arguments);
  return status;
}

Status FromException(int no_memory, int internal) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Fail(no_memory, "host memory is exhausted");
  } catch (const std::exception& error) {
    return Fail(internal, "%s", error.what());
  } catch (...) {
    return Fail(internal, "an unknown exception ended the call");
  }
}

}  // namespace ropeway
