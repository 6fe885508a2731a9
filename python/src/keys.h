// What the calls that share things between processes have in common: keys that the library writes, lists of process
// ids.
#pragma once

#include "call.h"

namespace ropeway::python {

// Room for a key of `length` bytes, filled by `fill`, which returns a code. 1024 and more: ValueError.
template <typename Fill>
PyObject* ExportKey(const char* path, size_t length, Fill fill) {
  constexpr size_t kMaxLength = 1024;
  if (length >= kMaxLength) {
    PyErr_Format(PyExc_ValueError, "%s: len %zu is not below %zu", path, length, kMaxLength);
    return nullptr;
  }
  char key[kMaxLength] = {};
  const int code = WithoutGil([&] { return fill(key); });
  return Tuple(ToPython(static_cast<const char*>(key)), ToPython(code));
}

// A function of something (class kClass, type Subject) and a list of process ids.
template <FixedString kPath, char kClass, typename Subject>
PyObject* WithPids(Argv argv, Py_ssize_t count, int (*function)(Subject, int32_t*, size_t)) {
  constexpr char kFormat[] = {kClass, 'O', '\0'};
  Holder<Subject> subject;
  PyObject* list;
  std::vector<int32_t> pids;
  if (!ReadArguments<kFormat>(kPath.text, argv, count, subject, list)) return nullptr;
  if (!ReadList<'I'>(kPath.text, "pids", list, &pids)) return nullptr;
  return ToPython(WithoutGil([&] { return function(ValueOf(subject), pids.data(), pids.size()); }));
}

}  // namespace ropeway::python
