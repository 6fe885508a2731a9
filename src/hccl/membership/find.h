// The first step of every call that takes a communicator.
#pragma once

#include <memory>

#include "hccl/base/result.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

// HCCL_E_PARA for a handle that is none. Hold what it gives for the length of the call only (see FindCommunicator).
inline Result<CommunicatorHold> RequireCommunicator(HcclComm handle) {
  CommunicatorHold found = FindCommunicator(handle);
  if (!found) return Fail(HCCL_E_PARA, "comm %p is no communicator of this process, or no longer", handle);
  return found;
}

// In front of new work.
inline Status RequireNotSuspended(const Communicator& communicator) {
  if (!communicator.suspended()) [[likely]]
    return Ok();
  return Fail(HCCL_E_SUSPENDING, "communicator %s is suspended: call HcclCommResume on all of its ranks", communicator.name().c_str());
}

}  // namespace ropeway::comm
