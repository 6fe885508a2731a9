// What the product that is named (ROPEWAY_SOC) does not reduce.
#pragma once

#include "hccl/base/result.h"

namespace ropeway::comm {

Status RequireReducibleHere(HcclDataType type, HcclReduceOp op);

}  // namespace ropeway::comm
