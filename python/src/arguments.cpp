#include "arguments.h"

namespace ropeway::python {

PyObject* WrongCount(const char* path, Py_ssize_t wanted, Py_ssize_t given) {
  PyErr_Format(PyExc_TypeError, "%s args parse failed: %zd positional arguments are wanted, %zd were given", path, wanted, given);
  return nullptr;
}

PyObject* WrongArgument(const char* path, size_t position) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (value != nullptr) {
    PyErr_Format(PyExc_TypeError, "%s args parse failed: argument %zu: %S", path, position, value);
  } else {
    PyErr_Format(PyExc_TypeError, "%s args parse failed: argument %zu is out of range", path, position);
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return nullptr;
}

bool RequireCallable(const char* path, PyObject* object) {
  if (PyCallable_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "%s args parse failed: the function is not callable", path);
  return false;
}

}  // namespace ropeway::python
