// What a rule of ROPEWAY_FAULTS puts into a stream, in front of a task or in its place.
#pragma once

#include "engine/task.h"

namespace ropeway {

// Holds its stream for so long, and nothing else: it is parked, and no thread has to do with it until the time is over.
Task DelayTask(const char* call, int64_t delay_ns);
// Where it is parked. Nobody opens this gate; the time limit of the wait lets it go.
Gate* DelayGate();
// Fails with this code when its turn comes.
Task FailingTask(const char* call, int code);

}  // namespace ropeway
