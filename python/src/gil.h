// The interpreter lock: giving it away around C calls that can wait, and taking it on threads that come from outside,
// also while the interpreter is on its way out.
#pragma once

#include "python.h"
#include "traced_call.h"

namespace ropeway::python {

enum class Gil { kHeld, kReleased };

// Runs `body` with the lock given away. Not a guard object: taking the lock back may end the thread, by an unwinding
// that must not start in a destructor.
template <typename Body>
auto WithoutGil(Body&& body, bool of_blocks = false) {
  const TracedCall traced(of_blocks);
  PyThreadState* state = PyEval_SaveThread();
  auto result = body();
  PyEval_RestoreThread(state);
  return result;
}

template <Gil kGil, typename Body>
auto RunWith(Body&& body, bool of_blocks) {
  if constexpr (kGil == Gil::kReleased) {
    return WithoutGil(body, of_blocks);
  } else {
    const TracedCall traced(of_blocks);
    return body();
  }
}

// Whether Python may still be entered from outside; when it may, the lock is held on return.
bool EnterPython(PyGILState_STATE* state);
void LeavePython(PyGILState_STATE state);

// For threads that will stay: the end of the interpreter does not wait for them. They call this once they are inside,
// and leave by PyGILState_Release.
void StopCounting();

// Stops this thread for good. C frames that cannot be unwound may stand below it; the process is ending.
[[noreturn]] void FreezeThread();

// Runs `body` with the lock held, on whatever thread the library has called us. Without effect once the interpreter is
// ending.
template <typename Body>
void VisitPython(Body&& body) {
  PyGILState_STATE state;
  try {
    if (!EnterPython(&state)) return;
    body();
    LeavePython(state);
  } catch (...) {
    // The interpreter ends threads by unwinding them, and the library's frames below must not be unwound.
    FreezeThread();
  }
}

// Arranges for the interpreter to wait, when it ends, for visits that are under way, and to admit no more.
bool GuardInterpreterExit();

}  // namespace ropeway::python
