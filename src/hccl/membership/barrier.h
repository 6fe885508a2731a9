// HcclBarrier: a stream's item that ends when every rank's stream has come to its own.
#pragma once

#include "acl/acl_base.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

// The runtime's code when the stream does not take it.
aclError LaunchBarrier(const std::shared_ptr<Communicator>& communicator, void* stream);

}  // namespace ropeway::comm
