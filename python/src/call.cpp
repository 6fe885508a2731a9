#include "call.h"

namespace ropeway::python {

PyObject* Pack(PyObject** objects, size_t count) {
  if (count == 1) return objects[0];
  bool good = true;
  for (size_t i = 0; i < count; ++i) good = good && objects[i] != nullptr;
  PyObject* tuple = good ? PyTuple_New(static_cast<Py_ssize_t>(count)) : nullptr;
  for (size_t i = 0; i < count; ++i) {
    if (tuple == nullptr) {
      Py_XDECREF(objects[i]);
    } else {
      PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), objects[i]);
    }
  }
  return tuple;
}

}  // namespace ropeway::python
