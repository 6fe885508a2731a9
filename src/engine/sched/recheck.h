// A task of a graph names memory that may have been freed since it was captured (rules/copies.md 7).
#pragma once

#include "engine/backend.h"

namespace ropeway::sched {

// 0 when everything that the task names was there when the free clock showed `as_of`, else the code of its failure. No judge: everything
// is there.
int Recheck(const Task& task, const AddressJudge* judge, uint64_t as_of, TaskFailure* failure);

}  // namespace ropeway::sched
