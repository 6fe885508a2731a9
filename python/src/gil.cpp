#include "gil.h"

#include <unistd.h>

#include <atomic>

namespace ropeway::python {
namespace {

// Visits that are under way when the interpreter ends get two seconds; one that waits for somebody who is gone cannot
// hold the process for ever.
constexpr int kPatienceMs = 2000;

// A visitor counts itself and then looks at the door; the end closes the door and then looks at the count. In one order
// for all, so one of the two sees the other. No lock: a fork might leave it held.
std::atomic<int> g_visits{0};
std::atomic<bool> g_closed{false};
std::atomic<pid_t> g_pid{0};  // a forked child has none of the visitors that it inherited the count of

// Registered with atexit: the interpreter is still whole when it calls this, and has ended no thread yet.
PyObject* CloseForVisits(PyObject*, PyObject*) {
  g_closed.store(true);
  if (getpid() != g_pid.load()) return None();
  WithoutGil([] {
    int waited_ms = 0;
    for (; g_visits.load() > 0 && waited_ms < kPatienceMs; ++waited_ms) usleep(1000);
    return waited_ms;
  });
  return None();
}

PyMethodDef kCloseForVisits = {"close_for_visits", &CloseForVisits, METH_NOARGS, nullptr};

}  // namespace

bool EnterPython(PyGILState_STATE* state) {
  g_visits.fetch_add(1);
  if (g_closed.load()) {
    g_visits.fetch_sub(1);
    return false;
  }
  *state = PyGILState_Ensure();
  return true;
}

void StopCounting() { g_visits.fetch_sub(1); }

void LeavePython(PyGILState_STATE state) {
  PyGILState_Release(state);
  StopCounting();
}

void FreezeThread() {
  for (;;) pause();
}

bool GuardInterpreterExit() {
  g_pid.store(getpid());
  Reference atexit(PyImport_ImportModule("atexit"));
  if (!atexit) return false;
  Reference hook(PyCFunction_NewEx(&kCloseForVisits, nullptr, nullptr));
  if (!hook) return false;
  Reference enroll(PyObject_GetAttrString(atexit.get(), "register"));
  if (!enroll) return false;
  Reference done(PyObject_CallFunctionObjArgs(enroll.get(), hook.get(), nullptr));
  return static_cast<bool>(done);
}

}  // namespace ropeway::python
