// The handles of communicators. A handle is a number, never an address: looking a stale one up is always safe.
#pragma once

#include <memory>
#include <string_view>

#include "hccl/membership/communicator.h"

namespace ropeway::comm {

HcclComm AddCommunicator(std::shared_ptr<Communicator> communicator);

// The handle of a communicator of this name: of the rank that has the device, or of the first; null when there is none.
HcclComm HandleOfName(std::string_view name, int32_t device);

// Takes it out of the registry. HCCL_E_PARA: unknown; HCCL_E_AGAIN: another thread is inside a call with it.
HcclResult RemoveCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator);

}  // namespace ropeway::comm
