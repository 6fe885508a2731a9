// The runtime's word for a direction of this library.
#pragma once

#include "adapter_rts_common.h"
#include "hccl/base/result.h"

namespace ropeway::comm {

// The aclrtMemcpyKind as a number; HCCL_E_PARA for kinds that are no direction.
Result<int> RuntimeKind(HcclRtMemcpyKind kind);

}  // namespace ropeway::comm
