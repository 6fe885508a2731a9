// CPython's limited API, and the one owner type that the module uses for references. Every file of the module starts
// here.
#pragma once

// The build defines Py_LIMITED_API as 3.7: one binary then serves every python3 from there on.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

// How functions of this module are called. The limited API has had it since 3.10; 3.7 to 3.9, which change no more, do the same.
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ropeway::python {

// Owns one reference. Never alive across a place that gives the interpreter lock away: a thread that is ended while it
// waits for the lock is unwound, and a destructor would then touch Python without it.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* owned) : object_(owned) {}
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() { Py_XDECREF(object_); }

  static Reference Share(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Reference(borrowed);
  }

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

inline PyObject* None() {
  Py_INCREF(Py_None);
  return Py_None;
}

}  // namespace ropeway::python
