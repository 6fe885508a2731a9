// How functions of this module fail on their own account, without a C function that would do it: the code, and a text
// that acl.get_recent_err_msg() hands out.
#pragma once

#include <string>

#include "arguments.h"

namespace ropeway::python {

// Files the text for this thread and returns the code.
int Fail(const char* path, int code, const std::string& text);

// The texts of this thread, newest first, and forgets them.
std::string TakeTexts();

// Checks the arguments (letters of convert.h; l list, d dict, c callable, O anything, * any more of anything, |
// optional from here), then answers 207000 in the shape that `returns` describes.
PyObject* Refuse(const char* path, const char* format, const char* returns, const char* why, Argv argv, Py_ssize_t count);

template <FixedString kPath, FixedString kFormat, FixedString kReturns, const char* kWhy>
PyObject* Refused(PyObject*, Argv argv, Py_ssize_t count) {
  return Refuse(kPath.text, kFormat.text, kReturns.text, kWhy, argv, count);
}

}  // namespace ropeway::python
