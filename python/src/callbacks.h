// Python functions that the library calls later, from a thread of the program or from one of its own.
//
// The library gets a number, never a pointer to Python: a number that is not in the table any more is a call that does
// nothing, so a call that comes too late is harmless. The table is guarded by the interpreter lock.
#pragma once

#include "acl/acl.h"
#include "python.h"

namespace ropeway::python {

// Holds `function` and `data` until the call has run, was dropped or, when `stream` is being captured, until the graph
// is destroyed. The result is what to hand to the library, beside RunCallback.
void* KeepCallback(PyObject* function, PyObject* data, aclrtStream stream);

// function(data), once; any number of times when the call was captured. An exception is printed and goes no further.
void RunCallback(void* number);

// After the call was handed over, with the code that came back: a refused one is forgotten, a captured one is bound to
// its graph.
void SettleCallback(void* number, aclrtStream stream, int code);

// Calls of a stream whose work was thrown away. Captured ones stay.
void ForgetCallbacks(aclrtStream stream);

}  // namespace ropeway::python
