// In a program built with -fsanitize=thread, streams are fibers of its detector: a queued copy of host memory is an access in the fiber,
// and order goes where the model says. Host code that touches a buffer under a pending copy is then a race of the detector's own, which it
// reports with both stacks.
#pragma once

#include <functional>
#include <memory>

#include "check/model/watcher.h"

namespace ropeway::check {

// Null where there is no such detector. `on_host(address)` says what host code can touch: the rest would only be reported twice.
std::unique_ptr<Watcher> WatchWithThreadSanitizer(std::function<bool(uintptr_t)> on_host);

}  // namespace ropeway::check
