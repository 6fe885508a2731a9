#include "malloc_config.h"

namespace ropeway::python {

bool MallocConfig::Read(const char* path, PyObject* object) {
  if (!PyDict_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s args parse failed: cfg is not a dict", path);
    return false;
  }
  if (PyDict_Size(object) == 0) return true;
  PyObject* list = PyDict_GetItemString(object, "attrs");
  if (list == nullptr || !PyList_Check(list)) {
    PyErr_Format(PyExc_TypeError, "%s args parse failed: cfg has no list 'attrs'", path);
    return false;
  }
  PyObject* announced = PyDict_GetItemString(object, "numAttrs");
  const Py_ssize_t wanted = announced == nullptr ? -1 : PyLong_AsSsize_t(announced);
  PyErr_Clear();
  if (wanted != PyList_Size(list)) {
    PyErr_Format(PyExc_KeyError, "%s: numAttrs is not the length of attrs, %zd", path, PyList_Size(list));
    return false;
  }
  if (!ReadStructures(path, "attrs", list, &ReadMallocAttribute, &attributes_)) return false;
  config_ = {attributes_.data(), attributes_.size()};
  empty_ = false;
  return true;
}

}  // namespace ropeway::python
