// The product that is named (ROPEWAY_SOC), and what it does not do.
#pragma once

#include <string>

#include "hccl/base/result.h"

namespace ropeway::comm {

// Its name without what makes no difference: "910B1" for "Ascend 910b1".
std::string PlainProductName();

Status RequireReducibleHere(HcclDataType type, HcclReduceOp op);

}  // namespace ropeway::comm
