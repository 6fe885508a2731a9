// Argument checks that several calls of the one-sided service share.
#pragma once

#include "hccl/base/result.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

// Type, size and end of memory that is to be registered: HCCL_E_PARA.
comm::Status RequireMemory(int type, const void* addr, uint64_t size);
// HCCL_E_PARA unless the communicator has such a rank.
comm::Status RequireRank(const Communicator& communicator, uint32_t rank);
// Seconds; 0 for HCCL_CONNECT_TIMEOUT, -1 for ever, less: HCCL_E_PARA.
comm::Result<Deadline> DeadlineOf(const Communicator& communicator, int timeout);

}  // namespace ropeway::comm
