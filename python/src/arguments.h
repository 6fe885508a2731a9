// Reading argument lists: a fixed number of positional arguments, each of a class letter (convert.h). Everything that
// does not fit is a TypeError with the documented beginning, "<function> args parse failed".
#pragma once

#include <algorithm>
#include <vector>

#include "convert.h"

namespace ropeway::python {

// A text as a template argument: names of functions and argument classes are known when the module is built.
template <size_t kSize>
struct FixedString {
  char text[kSize];
  consteval FixedString(const char (&from)[kSize]) { std::copy_n(from, kSize, text); }  // NOLINT: implicit on purpose
  static constexpr Py_ssize_t size() { return static_cast<Py_ssize_t>(kSize) - 1; }
  constexpr char operator[](size_t i) const { return text[i]; }
};

// How the interpreter calls a function of this module.
using Argv = PyObject* const*;
using Function = PyObject* (*)(PyObject* self, Argv argv, Py_ssize_t count);

// Both set a TypeError and return null.
PyObject* WrongCount(const char* path, Py_ssize_t wanted, Py_ssize_t given);
// `position` counts from 1. The reason that Python has already found, if any, becomes part of the text.
PyObject* WrongArgument(const char* path, size_t position);

template <char kClass, typename T>
bool ConvertAt(const char* path, size_t position, Argv argv, T& value) {
  if (Convert<kClass>(argv[position - 1], value)) [[likely]]
    return true;
  WrongArgument(path, position);
  return false;
}

// Fills `values` from the arguments, one letter each.
template <FixedString kFormat, typename... Values>
bool ReadArguments(const char* path, Argv argv, Py_ssize_t count, Values&... values) {
  static_assert(kFormat.size() == sizeof...(Values), "one letter for each value");
  if (count != kFormat.size()) {
    WrongCount(path, kFormat.size(), count);
    return false;
  }
  return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return (ConvertAt<kFormat[kIndex]>(path, kIndex + 1, argv, values) && ...);
  }
  (std::index_sequence_for<Values...>());
}

// A list of numbers. Not a list: ValueError; an item of another class: TypeError. `name` goes into the text.
template <char kClass, typename T>
bool ReadList(const char* path, const char* name, PyObject* object, std::vector<T>* values) {
  if (!PyList_Check(object)) {
    PyErr_Format(PyExc_ValueError, "%s: %s must be a list", path, name);
    return false;
  }
  values->clear();
  for (Py_ssize_t i = 0; i < PyList_Size(object); ++i) {
    T value{};
    if (!Convert<kClass>(PyList_GetItem(object, i), value)) {
      PyErr_Format(PyExc_TypeError, "%s: %s[%zd] does not fit", path, name, i);
      return false;
    }
    values->push_back(value);
  }
  return true;
}

// For functions that call back. Not callable: TypeError.
bool RequireCallable(const char* path, PyObject* object);

}  // namespace ropeway::python
