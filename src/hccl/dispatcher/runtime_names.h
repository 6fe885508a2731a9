// The runtime's words for a direction and for a link of this library.
#pragma once

#include "adapter_rts_common.h"
#include "dispatcher_task_types.h"
#include "hccl/base/result.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

// The aclrtMemcpyKind as a number; HCCL_E_PARA for kinds that are no direction.
Result<int> RuntimeKind(HcclRtMemcpyKind kind);
// What a trace says of a task with these labels; nothing of one that names no peer and no link.
ropewayTransfer Labelled(u32 rank, hccl::LinkType link, uint64_t bytes);

}  // namespace ropeway::comm
