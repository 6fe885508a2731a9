// acl.rt: functions in streams, exceptions of tasks, last errors, time limits.
#include "callbacks.h"
#include "tables.h"

namespace ropeway::python {
namespace {

PyObject* LaunchCallback(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.launch_callback";
  PyObject *function, *data;
  aclrtCallbackBlockType block_type;
  aclrtStream stream;
  if (!ReadArguments<"OOIP">(kPath, argv, count, function, data, block_type, stream)) return nullptr;
  if (!RequireCallable(kPath, function)) return nullptr;
  void* number = KeepCallback(function, data, stream);
  const int code = WithoutGil([&] { return aclrtLaunchCallback(&RunCallback, number, block_type, stream); });
  SettleCallback(number, stream, code);
  return ToPython(code);
}

// One function per process; the interpreter lock guards it.
PyObject* g_exception_function = nullptr;

void SetExceptionFunction(PyObject* function) {
  PyObject* before = g_exception_function;
  Py_XINCREF(function);
  g_exception_function = function;
  Py_XDECREF(before);
}

// On a thread of the library. A function that raises is dropped. No owner objects: see gil.h.
void ReportException(aclrtExceptionInfo* info) {
  VisitPython([info] {
    PyObject* function = g_exception_function;
    if (function == nullptr) return;
    Py_INCREF(function);
    PyObject* handle = ToPython(info);
    PyObject* result = handle == nullptr ? nullptr : PyObject_CallFunctionObjArgs(function, handle, nullptr);
    if (result == nullptr) {
      PyErr_WriteUnraisable(function);
      if (g_exception_function == function) {
        aclrtSetExceptionInfoCallback(nullptr);
        SetExceptionFunction(nullptr);
      }
    }
    Py_XDECREF(result);
    Py_XDECREF(handle);
    Py_DECREF(function);
  });
}

PyObject* SetExceptionInfoCallback(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.set_exception_info_callback";
  if (count > 1) return WrongCount(kPath, 1, count);
  PyObject* function = count == 0 || argv[0] == Py_None ? nullptr : argv[0];
  if (function != nullptr && !RequireCallable(kPath, function)) return nullptr;
  const int code = aclrtSetExceptionInfoCallback(function == nullptr ? nullptr : &ReportException);
  if (code == ACL_SUCCESS) SetExceptionFunction(function);
  return ToPython(code);
}

}  // namespace

Table kCallbackFunctions[] = {
    RW_WAITING("acl.rt.subscribe_report", aclrtSubscribeReport, "QP", "thread_id, stream", "ret",
               "Names the thread that runs the callbacks of a stream: what start_thread or threading.get_ident() returned."),
    RW_WAITING("acl.rt.unsubscribe_report", aclrtUnSubscribeReport, "QP", "thread_id, stream", "ret",
               "Ends subscribe_report; waits for blocking callbacks, so the thread must still be looping."),
    RW_WAITING("acl.rt.process_report", aclrtProcessReport, "I", "timeout_ms", "ret",
               "Runs the callbacks that are due on this thread; 507012 when none came in time, 107012 when not subscribed."),
    RW_SPECIAL("acl.rt.launch_callback", &LaunchCallback, "fn: Callable[[Any], object], user_data: Any, block_type, stream, /", "ret",
               "Queues fn(user_data) for the stream's subscribed thread; block type 1 holds the stream until it returned. C "
               "function: aclrtLaunchCallback."),
    RW_CALL_PLAIN("acl.rt.get_thread_last_task_id", aclrtGetThreadLastTaskId, "(task_id, ret)",
                  "The number of the last task that this thread submitted."),
    RW_CALL("acl.rt.set_op_execute_time_out", aclrtSetOpExecuteTimeOut, "U", "timeout_s", "ret", "Time limit of kernels, in seconds."),
    RW_CALL("acl.rt.set_op_execute_timeout_v2", aclrtSetOpExecuteTimeOutV2, "Q", "timeout_us", "(actual_timeout, ret)",
            "Time limit of kernels, in microseconds."),
    RW_CALL_PLAIN("acl.rt.get_op_timeout_interval", aclrtGetOpTimeOutInterval, "(interval, ret)", "Step of the time limit of kernels."),
    RW_CALL_PLAIN("acl.rt.get_op_execute_timeout", aclrtGetOpExecuteTimeout, "(timeout_ms, ret)",
                  "Time limit of kernels, in milliseconds."),

    RW_SPECIAL("acl.rt.set_exception_info_callback", &SetExceptionInfoCallback, "fn: Callable | None=None, /", "ret",
               "Has fn(info) called when a task fails, on a thread of the library; None or nothing unregisters."),
    RW_CALL("acl.rt.get_error_code_from_exception_info", aclrtGetErrorCodeFromExceptionInfo, "P", "info", "int",
            "Inside an exception callback: the error."),
    RW_CALL("acl.rt.get_task_id_from_exception_info", aclrtGetTaskIdFromExceptionInfo, "P", "info", "int",
            "Inside an exception callback: the task."),
    RW_CALL("acl.rt.get_stream_id_from_exception_info", aclrtGetStreamIdFromExceptionInfo, "P", "info", "int",
            "Inside an exception callback: the stream."),
    RW_CALL("acl.rt.get_thread_id_from_exception_info", aclrtGetThreadIdFromExceptionInfo, "P", "info", "int",
            "Inside an exception callback: the thread that submitted the task."),
    RW_CALL("acl.rt.get_device_id_from_exception_info", aclrtGetDeviceIdFromExceptionInfo, "P", "info", "int",
            "Inside an exception callback: the device."),
    RW_CALL("acl.rt.peek_at_last_error", aclrtPeekAtLastError, "I", "level", "int",
            "The code of this thread's last runtime failure; level 0."),
    RW_CALL("acl.rt.get_last_error", aclrtGetLastError, "I", "level", "int", "The same, and sets it back to 0."),
    {}};

}  // namespace ropeway::python
