// Rows of the function tables. A row holds the Python name, what runs, the parameters and what comes back. When the module is
// built, the docstring and the signature that help() shows are made of it, and, by python/stubs.py, the type stub. A
// parameter that is no int, and whose type no letter tells, has it behind its name: "size, cfg: dict, /".
#pragma once

#include <string_view>

#include "acl/acl.h"
#include "call.h"
#include "failing_line.h"
#include "refuse.h"

namespace ropeway::python {

// A table ends with an empty row.
using Table = PyMethodDef;

// Where the last part of a dotted name starts.
constexpr size_t LastPart(std::string_view path) { return path.rfind('.') + 1; }

constexpr const char* Skip(const char* text, size_t count) { return text + count; }

inline PyCFunction Erase(Function function) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)); }

// "f(a, b: list[int], c=1)..." without its types, which Python does not take in the signature of a function made in C.
template <size_t kSize>
consteval FixedString<kSize> WithoutTypes(const char (&from)[kSize]) {
  FixedString<kSize> to({});
  size_t length = 0;
  int depth = 0;
  bool in_type = false;
  const std::string_view all(from, kSize);
  const size_t end = all.find(")\n");
  for (size_t i = 0; i < kSize; ++i) {
    const char c = from[i];
    depth += (c == '[') - (c == ']');
    if (i <= end && depth == 0 && (c == ':' || c == ',' || c == '=' || i == end)) in_type = c == ':';
    if (!in_type) to.text[length++] = c;
  }
  return to;
}

// How many names "a, b, c" has.
constexpr size_t CountNames(std::string_view names) { return static_cast<size_t>(std::count(names.begin(), names.end(), ',')) + 1; }

}  // namespace ropeway::python

// clang-format off
#define RW_ROW(path, function, signature, sentences) \
  {::ropeway::python::Skip(path, ::ropeway::python::LastPart(path)), ::ropeway::python::Erase(&::ropeway::python::TellingLine<function>), \
   METH_FASTCALL, [] { \
     static constexpr auto kText = ::ropeway::python::WithoutTypes(path "(" signature ")\n--\n\n" sentences); \
     return ::ropeway::python::Skip(kText.text, ::ropeway::python::LastPart(path)); \
   }()}

#define RW_C_ROW(path, function, format, gil, names, signature, returns, text) \
  RW_ROW(path, (&::ropeway::python::Call<path, &function, format, ::ropeway::python::Gil::gil, names>), signature, \
         text "\n\nReturns " returns ". C function: " #function ".")

// A C function with arguments, or without. RW_CALL keeps the interpreter lock: for calls that never wait. RW_WAITING
// gives it away: for calls that may wait for a stream, for another thread, or for a callback that somebody registered.
#define RW_CALL(path, function, format, names, returns, text) \
  RW_C_ROW(path, function, format, kHeld, ::ropeway::python::CountNames(names), names ", /", returns, text)
#define RW_WAITING(path, function, format, names, returns, text) \
  RW_C_ROW(path, function, format, kReleased, ::ropeway::python::CountNames(names), names ", /", returns, text)
#define RW_CALL_PLAIN(path, function, returns, text) RW_C_ROW(path, function, "", kHeld, 0, "*ignored", returns, text)
#define RW_WAITING_PLAIN(path, function, returns, text) \
  RW_C_ROW(path, function, "", kReleased, 0, "*ignored", returns, text)

// A function written out by hand.
#define RW_SPECIAL(path, function, signature, returns, text) \
  RW_ROW(path, (function), signature, text "\n\nReturns " returns ".")

// A function that is not there: checks its arguments, then answers 207000 in the documented shape and says `why`.
#define RW_REFUSED(path, why, format, signature, returns, text) \
  RW_ROW(path, (&::ropeway::python::Refused<path, format, returns, why>), signature, \
         text " Not available here: answers 207000.\n\nReturns " returns ".")
// clang-format on
