// Those who want to know when a communicator of this process is destroyed or resumed (HcclCommRegCommStateCallback).
#pragma once

#include "hccl/base/result.h"

namespace ropeway::comm {

// Calls all of them, in the order of their names, up to the first that fails.
Status TellStateCallbacks(HcclComm comm, HcclCommStatePhase phase);

}  // namespace ropeway::comm
