// acl.util: threads that programs start to serve callbacks. Plain POSIX threads: their ids are what subscribe_report
// wants.
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <unordered_map>

#include "tables.h"

namespace ropeway::python {
namespace {

struct Thread {
  PyObject* function;
  PyObject* argument;
  std::string failure;  // the type of the exception that ended it
};

// By id, from start_thread to stop_thread. Guarded by the interpreter lock, never destroyed.
std::unordered_map<uint64_t, Thread*>& Threads() {
  static auto* threads = new std::unordered_map<uint64_t, Thread*>;
  return *threads;
}

// Prints the exception as the interpreter would and keeps the name of its type. A SystemExit ends the thread quietly.
void NoteFailure(Thread* thread) {
  const bool quiet = PyErr_ExceptionMatches(PyExc_SystemExit);
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  PyObject* hook = PySys_GetObject("excepthook");
  if (!quiet) {
    PyObject* name = PyObject_GetAttrString(type, "__name__");
    Text text;
    thread->failure = name != nullptr && text.Read(name) ? text.get() : "Exception";
    Py_XDECREF(name);
    if (hook != nullptr) Py_XDECREF(PyObject_CallFunctionObjArgs(hook, type, value, traceback == nullptr ? Py_None : traceback, nullptr));
    PyErr_Clear();
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}

// No owner objects here: the interpreter may end this thread by unwinding it.
void* RunThread(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  PyGILState_STATE state;
  if (!EnterPython(&state)) return nullptr;
  StopCounting();
  PyObject* result = thread->argument == Py_None ? PyObject_CallFunctionObjArgs(thread->function, nullptr)
                                                 : PyObject_CallFunctionObjArgs(thread->function, thread->argument, nullptr);
  if (result == nullptr) NoteFailure(thread);
  Py_XDECREF(result);
  Py_CLEAR(thread->function);
  Py_CLEAR(thread->argument);
  PyGILState_Release(state);
  return nullptr;
}

PyObject* StartThread(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.util.start_thread";
  PyObject *function, *argument;
  if (!ReadArguments<"OO">(kPath, argv, count, function, argument) || !RequireCallable(kPath, function)) return nullptr;
  // As the original does: the main thread may sit in a call that never returns to Python, and Ctrl-C is to end the
  // program.
  signal(SIGINT, SIG_DFL);
  Py_INCREF(function);
  Py_INCREF(argument);
  auto* thread = new Thread{function, argument, ""};
  pthread_t id{};
  const int error = WithoutGil([&] { return pthread_create(&id, nullptr, &RunThread, thread); });
  if (error == 0) {
    Threads()[id] = thread;
  } else {
    Py_DECREF(function);
    Py_DECREF(argument);
    delete thread;
  }
  return Tuple(ToPython(static_cast<uint64_t>(id)), ToPython(error));
}

PyObject* StopThread(PyObject*, Argv argv, Py_ssize_t count) {
  uint64_t id;
  if (!ReadArguments<"Q">("acl.util.stop_thread", argv, count, id)) return nullptr;
  auto it = Threads().find(id);
  if (it == Threads().end()) return ToPython(ESRCH);  // joining a thread twice, or one that is not ours, is undefined
  Thread* thread = it->second;
  Threads().erase(it);
  const int error = WithoutGil([&] { return pthread_join(static_cast<pthread_t>(id), nullptr); });
  if (error != 0) {  // a thread cannot join itself
    Threads()[id] = thread;
    return ToPython(error);
  }
  const std::string failure = std::move(thread->failure);
  delete thread;
  if (failure.empty()) return ToPython(error);
  PyErr_Format(PyExc_RuntimeError, "exception=%s,msg=thread call failed;", failure.c_str());
  return nullptr;
}

}  // namespace

Table kThreadFunctions[] = {
    RW_SPECIAL("acl.util.start_thread", &StartThread, "fn: Callable, args: Any, /", "(thread_id, err)",
               "Starts an OS thread that calls fn(args), or fn() when args is None. Sets Ctrl-C back to ending the process."),
    RW_SPECIAL("acl.util.stop_thread", &StopThread, "thread_id, /", "err",
               "Waits for a thread of start_thread to end; RuntimeError when its function raised. Once for each thread."),
    {}};

}  // namespace ropeway::python
