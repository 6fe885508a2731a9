// The 4108 opaque bytes that the application carries from the root to all ranks. They hold the secret: whoever has them
// can join.
#pragma once

#include "hccl/bootstrap/bootstrap.h"
#include "hccl/hccl_types.h"

namespace ropeway::comm {

void WriteRootInfo(const RootTicket& ticket, HcclRootInfo* info);
// False for bytes that HcclGetRootInfo did not write, or that were damaged on their way.
bool ReadRootInfo(const HcclRootInfo& info, RootTicket* ticket);

}  // namespace ropeway::comm
