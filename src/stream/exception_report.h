// Tells the program's exception callbacks about failed tasks (runtime.md 9.4), on a thread of its own: the thread that ran
// the task may be a lane or a waiter that helps, and neither may run user code.
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

void ReportException(const ExceptionInfo& info);

// The one slot of the deprecated call, and the set of the newer ones; independent of each other.
void SetExceptionCallback(aclrtExceptionInfoCallback callback);
void AddExceptionCallback(aclrtExceptionInfoCallback callback);
void RemoveExceptionCallback(aclrtExceptionInfoCallback callback);

}  // namespace ropeway
