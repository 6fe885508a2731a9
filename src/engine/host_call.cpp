#include "engine/host_call.h"

#include <utility>

#include "base/race_detector.h"

namespace ropeway {
namespace {

// An exception that leaves a user's function ends the process, on whichever thread it runs (rules/callbacks.md 2): nobody could go on with
// the work behind it.
void CallUser(void (*function)(void*), void* argument) noexcept { function(argument); }

}  // namespace

thread_local const HostCall::Return* HostCall::running_here = nullptr;
thread_local bool HostCall::inside = false;
thread_local HostCall::Epilogue HostCall::epilogue = nullptr;

void HostCall::Run() const {
  running_here = on_return;
  inside = true;
  {
    const race_detector::UsersCode users;
    CallUser(function, argument);
  }
  if (const Epilogue last = std::exchange(epilogue, nullptr)) on_return->ending = last();
  inside = false;
  running_here = nullptr;
  if (on_return != nullptr) on_return->Returned();
}

}  // namespace ropeway
