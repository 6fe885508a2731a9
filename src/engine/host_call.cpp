#include "engine/host_call.h"

#include "base/race_detector.h"

namespace ropeway {

thread_local const HostCall::Return* HostCall::running_here = nullptr;
thread_local bool HostCall::inside = false;

void HostCall::Run() const {
  running_here = on_return;
  inside = true;
  {
    const race_detector::UsersCode users;
    function(argument);
  }
  inside = false;
  running_here = nullptr;
  if (on_return != nullptr) on_return->Returned();
}

}  // namespace ropeway
