// A task of a graph names memory that may have been freed since it was captured (copy-and-memory.md 2.9).
#pragma once

#include "engine/backend.h"

namespace ropeway::sched {

// 0 when everything that the task names is still there, else the code of its failure. No judge: everything is there.
int Recheck(const Task& task, const AddressJudge* judge, TaskFailure* failure);

}  // namespace ropeway::sched
