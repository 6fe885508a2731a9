#include "check/python_frame.h"

#include <dlfcn.h>

namespace ropeway::check {
namespace {

// Objects are passed about as they come.
struct Python {
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  void* (*top_frame)() = nullptr;  // not ours to give back
  int (*line_of)(void*) = nullptr;
  void* (*code_of)(void*) = nullptr;
  void* (*attribute)(void*, const char*) = nullptr;
  const char* (*text)(void*) = nullptr;
  void (*drop)(void*) = nullptr;
  bool found = false;

  Python() {
    found = Take("PyGILState_Ensure", &ensure) && Take("PyGILState_Release", &release) && Take("PyEval_GetFrame", &top_frame) &&
            Take("PyFrame_GetLineNumber", &line_of) && Take("PyFrame_GetCode", &code_of) && Take("PyObject_GetAttrString", &attribute) &&
            Take("PyUnicode_AsUTF8", &text) && Take("Py_DecRef", &drop);
  }

  template <typename Function>
  static bool Take(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return *function != nullptr;
  }
};

const Python& ThePython() {
  static const auto* const python = new Python;
  return *python;
}

}  // namespace

bool HasPython() { return ThePython().found; }

PythonLock::PythonLock() : state_(ThePython().ensure()) {}
PythonLock::~PythonLock() { ThePython().release(state_); }

PythonFrame::PythonFrame() {
  void* const frame = HasPython() ? ThePython().top_frame() : nullptr;
  if (frame == nullptr) return;
  code_ = ThePython().code_of(frame);
  line_ = ThePython().line_of(frame);
}

PythonFrame::~PythonFrame() {
  if (code_ != nullptr && !kept_) ThePython().drop(code_);
}

std::string PythonFrame::Path() const {
  void* const name = ThePython().attribute(code_, "co_filename");
  if (name == nullptr) return "python";
  const char* const text = ThePython().text(name);
  const std::string path = text == nullptr ? "python" : text;
  ThePython().drop(name);
  return path;
}

}  // namespace ropeway::check
