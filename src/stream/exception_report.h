// Tells the program's exception callbacks about failed tasks (rules/errors.md 6), on a thread of its own: the thread that ran
// the task may be a lane or a waiter that helps, and neither may run user code.
//
// A failure is reported before anybody can find it in its stream or context, and whoever hands it out, or gives up the stream that
// has it, waits until the callbacks have returned: programs read what a callback stored right behind the synchronise, and may then
// unregister it. On the telling thread itself nothing waits, so callbacks may synchronise.
#pragma once

#include <cstdint>

#include "acl/acl_rt.h"

namespace ropeway {

// What is behind the opaque aclrtExceptionInfo.
struct ExceptionInfo {
  uint32_t task_id;
  uint32_t stream_id;
  uint32_t thread_id;
  uint32_t device_id;
  uint32_t error_code;
};

// Does not wait, and does not throw.
void ReportException(const ExceptionInfo& info);
// Until everything that was reported so far has been told. Never with a lock held.
void AwaitExceptionReports();

// From now on tasks may fail: the telling thread is there as soon as there is a callback. Throws std::system_error when there is no thread
// to be had. Not earlier, because a process without devices may be forked and its child has no such thread.
void GetReadyForExceptions();

// The one slot of the deprecated call, and the set of the newer ones; independent of each other. Setting and adding throw as above,
// without effect.
void SetExceptionCallback(aclrtExceptionInfoCallback callback);
void AddExceptionCallback(aclrtExceptionInfoCallback callback);
void RemoveExceptionCallback(aclrtExceptionInfoCallback callback);

}  // namespace ropeway
