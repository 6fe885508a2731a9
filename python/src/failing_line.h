// The line of the script that a failed call was made in, told to the library, which ends the text of the failure with it. Nothing happens
// for calls that return 0.
#pragma once

#include "arguments.h"

namespace ropeway::python {

// Whether a result is, or ends with, a number that is not 0: a code, most likely.
inline bool EndsWithCode(PyObject* result) {
  if (PyTuple_Check(result)) {
    const Py_ssize_t size = PyTuple_Size(result);
    if (size == 0) return false;
    result = PyTuple_GetItem(result, size - 1);  // borrowed
  }
  return PyLong_Check(result) && PyLong_AsUnsignedLongLongMask(result) != 0;
}

// Without effect where the newest text is of no call out of this module, or has its line.
void TellLine();

// Every function of the module stands behind this.
template <auto kFunction>
PyObject* TellingLine(PyObject* module, Argv argv, Py_ssize_t count) {
  PyObject* const result = kFunction(module, argv, count);
  if (result != nullptr && EndsWithCode(result)) TellLine();
  return result;
}

}  // namespace ropeway::python
