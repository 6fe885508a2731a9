// From Python objects to C values and back. The class letters are those of the documented argument tables
// (docs/pyacl.md): P and Q 64 bits, I int32, U uint32, L int64, H uint16, B uint8, F float, S text, T seconds of a
// notify.
#pragma once

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "python.h"

namespace ropeway::python {

// Puts bits into a parameter of any type. Enumerations get them unchecked: the C function looks at the value, as it
// must anyway.
template <typename T, typename Number>
bool Assign(Number number, T& value) {
  if constexpr (std::is_pointer_v<T>) {
    value = reinterpret_cast<T>(static_cast<uintptr_t>(number));
  } else if constexpr (std::is_enum_v<T>) {
    value = std::bit_cast<T>(static_cast<uint32_t>(number));
  } else {
    value = static_cast<T>(number);
  }
  return true;
}

// A text as C wants it; null until it is read. A copy that needs no Python to go away, since the limited API of 3.7 has no view
// into a str.
class Text {
 public:
  // False with a Python error set when `object` is no str; false when it has zero characters.
  bool Read(PyObject* object) {
    const Reference utf8(PyUnicode_AsUTF8String(object));
    if (!utf8) return false;
    const auto size = static_cast<size_t>(PyBytes_Size(utf8.get()));
    text_.emplace(PyBytes_AsString(utf8.get()), size);
    return strlen(text_->c_str()) == size;
  }
  const char* get() const { return text_ ? text_->c_str() : nullptr; }

 private:
  std::optional<std::string> text_;
};

// What holds an argument for a parameter of type T.
template <typename T>
using Holder = std::conditional_t<std::is_same_v<T, const char*>, Text, T>;

template <typename T>
const T& ValueOf(const T& value) {
  return value;
}
inline const char* ValueOf(const Text& text) { return text.get(); }

inline bool Failed(bool looks_like_failure) { return looks_like_failure && PyErr_Occurred() != nullptr; }

// False with a Python error set when `object` is not of the class.
template <char kClass, typename T>
bool Convert(PyObject* object, T& value) {
  static_assert(std::string_view("PQIULHBFSTO").find(kClass) != std::string_view::npos, "no such argument class");
  if constexpr (kClass == 'P' || kClass == 'Q' || kClass == 'U' || kClass == 'H' || kClass == 'B') {
    const unsigned long long number = PyLong_AsUnsignedLongLongMask(object);
    if (Failed(number == ~0ULL)) return false;
    if constexpr (kClass == 'U') return Assign(static_cast<uint32_t>(number), value);
    if constexpr (kClass == 'H') return Assign(static_cast<uint16_t>(number), value);
    if constexpr (kClass == 'B') return Assign(static_cast<uint8_t>(number), value);
    return Assign(static_cast<uint64_t>(number), value);
  } else if constexpr (kClass == 'I' || kClass == 'L' || kClass == 'T') {
    using Limits = std::numeric_limits<std::conditional_t<kClass == 'I', int32_t, int64_t>>;
    const long long least = kClass == 'T' ? 0 : Limits::min();
    const long long most = kClass == 'T' ? std::numeric_limits<uint32_t>::max() : Limits::max();
    const long long number = PyLong_AsLongLong(object);
    if (Failed(number == -1) || number < least || number > most) return false;
    return Assign(number, value);
  } else if constexpr (kClass == 'F') {
    const double number = PyFloat_AsDouble(object);
    if (Failed(number == -1.0)) return false;
    value = static_cast<T>(number);
    return true;
  } else if constexpr (kClass == 'S') {
    return value.Read(object);
  } else {
    value = object;
    return true;
  }
}

inline PyObject* ToPython(float value) { return PyFloat_FromDouble(static_cast<double>(value)); }

// Null becomes None. Bytes that are not UTF-8 are replaced: a text of the library must never raise.
inline PyObject* ToPython(const char* text) {
  return text == nullptr ? None() : PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(strlen(text)), "replace");
}

template <typename T>
PyObject* ToPython(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    return PyLong_FromLongLong(static_cast<int32_t>(value));
  } else if constexpr (std::is_signed_v<T>) {
    return PyLong_FromLongLong(value);
  } else {
    return PyLong_FromUnsignedLongLong(value);
  }
}

}  // namespace ropeway::python
