#include "check/python_site.h"

#include <dlfcn.h>

#include <cstring>
#include <unordered_map>

#include "check/next.h"

namespace ropeway::check {
namespace {

// Of Python's stable interface; objects are passed about as they come.
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

bool InPythonModule(uintptr_t caller) {
  thread_local std::unordered_map<uintptr_t, bool> known;
  const auto [at, added] = known.try_emplace(caller, false);
  Dl_info info{};
  if (added && dladdr(reinterpret_cast<void*>(caller - 1), &info) != 0 && info.dli_fname != nullptr)
    at->second = std::strstr(info.dli_fname, ".abi3.so") != nullptr || std::strstr(info.dli_fname, ".cpython-") != nullptr;
  return at->second;
}

std::string FileOf(const Python& python, void* code) {
  void* const name = python.attribute(code, "co_filename");
  if (name == nullptr) return "python";
  const char* const text = python.text(name);
  const std::string path = text == nullptr ? "python" : text;
  python.drop(name);
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

PythonSite FindPythonSite(uintptr_t caller) {
  static const auto* const python = new Python;
  if (!python->found || !InPythonModule(caller)) return {};
  PythonSite site;
  const int state = python->ensure();  // the module gave the lock away around the call
  if (void* const frame = python->top_frame()) {
    void* const code = python->code_of(frame);
    const int line = python->line_of(frame);
    site.key = reinterpret_cast<uintptr_t>(code) * 31 + static_cast<uintptr_t>(line) + caller;
    site.location = FileOf(*python, code) + ":" + std::to_string(line);
    python->drop(code);
  }
  python->release(state);
  return site;
}

}  // namespace ropeway::check
