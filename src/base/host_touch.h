// Memory of the program may turn out not to be there, or not to be writable. Our own code touches it inside TouchHost: a fault ends that
// touch, and nothing else. The signal handler is memory/fault_message.cpp's, which calls LeaveTouch.
//
// Each library has a TouchHost of its own; the handler asks the plugin's through EngineMemory.
#pragma once

#include <signal.h>

namespace ropeway {

// True when `touch(context)` ran to its end. It may read and write memory and nothing else: what it holds or has begun is never ended.
// False when it faulted, and `*fault` is the address; null where the processor does not tell it, which is so for addresses that no memory
// can have. Bytes in front of it may have been touched.
bool TouchHost(void (*touch)(void*), void* context, const void** fault);

template <class Touch>
bool TouchHost(Touch& touch, const void** fault) {
  return TouchHost([](void* context) { (*static_cast<Touch*>(context))(); }, &touch, fault);
}

// For the signal handler: ends the touch that this thread is in, as soon as the handler returns. False when it is in none.
bool LeaveTouch(const siginfo_t& fault, void* context);

// Which handler calls LeaveTouch. Where the program has put its own in front of that, the first touch on a thread says so, once.
using FaultHandler = void (*)(int, siginfo_t*, void*);
void SetFaultHandler(FaultHandler handler);

}  // namespace ropeway
