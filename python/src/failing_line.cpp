#include "failing_line.h"

#include <string>

#include "convert.h"
#include "ropeway/ropeway.h"

namespace ropeway::python {

void TellLine() {
  const Reference frame = Reference::Share(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  const Reference code(frame ? PyObject_GetAttrString(frame.get(), "f_code") : nullptr);
  const Reference file(code ? PyObject_GetAttrString(code.get(), "co_filename") : nullptr);
  const Reference line(frame ? PyObject_GetAttrString(frame.get(), "f_lineno") : nullptr);
  Text path;
  uint32_t number = 0;
  if (!file || !line || !Convert<'S'>(file.get(), path) || !Convert<'U'>(line.get(), number)) return PyErr_Clear();
  const std::string whole = path.get();
  const std::string site = whole.substr(whole.rfind('/') + 1) + ":" + std::to_string(number);
  ropewayTellErrorSite(reinterpret_cast<const void*>(&TellLine), site.c_str());
}

}  // namespace ropeway::python
