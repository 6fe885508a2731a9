#include "callbacks.h"

#include <algorithm>
#include <unordered_map>

#include "gil.h"

namespace ropeway::python {
namespace {

struct Kept {
  PyObject* function;
  PyObject* data;
  aclrtStream stream;
  bool captured;
};

struct Calls {
  uintptr_t last_number = 0;
  std::unordered_map<uintptr_t, Kept> by_number;
};

// Never destroyed: the library may ask until the very end.
Calls& TheCalls() {
  static auto* calls = new Calls;
  return *calls;
}

void Release(const Kept& kept) {
  Py_DECREF(kept.function);
  Py_DECREF(kept.data);
}

void Forget(uintptr_t number) {
  auto& by_number = TheCalls().by_number;
  auto it = by_number.find(number);
  if (it == by_number.end()) return;
  const Kept kept = it->second;
  by_number.erase(it);  // before the release, which may run Python code that calls back into this file
  Release(kept);
}

// Called by the library when a captured graph is destroyed.
void ForgetCaptured(void* number) {
  VisitPython([number] { Forget(reinterpret_cast<uintptr_t>(number)); });
}

// No owner objects here: while Python code runs, this thread may be ended by unwinding (gil.h).
void CallPython(uintptr_t number) {
  auto& by_number = TheCalls().by_number;
  auto it = by_number.find(number);
  if (it == by_number.end()) return;
  const Kept kept = it->second;
  if (kept.captured) {
    Py_INCREF(kept.function);
    Py_INCREF(kept.data);
  } else {
    by_number.erase(it);
  }
  PyObject* result = PyObject_CallFunctionObjArgs(kept.function, kept.data, nullptr);
  if (result == nullptr) PyErr_WriteUnraisable(kept.function);
  Py_XDECREF(result);
  Release(kept);
}

}  // namespace

void* KeepCallback(PyObject* function, PyObject* data, aclrtStream stream) {
  Calls& calls = TheCalls();
  Py_INCREF(function);
  Py_INCREF(data);
  const uintptr_t number = ++calls.last_number;
  calls.by_number.emplace(number, Kept{function, data, stream, false});
  return reinterpret_cast<void*>(number);
}

void RunCallback(void* number) {
  VisitPython([number] { CallPython(reinterpret_cast<uintptr_t>(number)); });
}

void SettleCallback(void* number, aclrtStream stream, int code) {
  if (code != ACL_SUCCESS) return Forget(reinterpret_cast<uintptr_t>(number));
  if (stream == nullptr) return;  // the default stream cannot be captured
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  if (aclmdlRICaptureGetInfo(stream, &status, &model) != ACL_SUCCESS || model == nullptr) return;
  auto it = TheCalls().by_number.find(reinterpret_cast<uintptr_t>(number));
  if (it == TheCalls().by_number.end()) return;
  if (aclmdlRIDestroyRegisterCallback(model, &ForgetCaptured, number) == ACL_SUCCESS) it->second.captured = true;
}

void ForgetCallbacks(aclrtStream stream) {
  auto& by_number = TheCalls().by_number;
  for (;;) {
    auto it = std::find_if(by_number.begin(), by_number.end(),
                           [stream](const auto& entry) { return entry.second.stream == stream && !entry.second.captured; });
    if (it == by_number.end()) return;
    Forget(it->first);  // may run Python code, so the search starts again
  }
}

}  // namespace ropeway::python
