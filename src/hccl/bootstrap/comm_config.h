// What a HcclCommConfig and the defaults mean for a communicator: its name, its world rank, its time limit. The rest of
// the configuration tunes hardware that is not here.
#pragma once

#include "hccl/base/result.h"
#include "hccl/bootstrap/bootstrap.h"
#include "hccl/hccl_types.h"

namespace ropeway::comm {

// Checks a configuration (null: none) and takes over what it sets. It may be one of older headers, and shorter: no more is
// read than its size and its version say. HCCL_E_PARA: HcclCommConfigInit was not called, or a value is not allowed.
Status ApplyConfig(const HcclCommConfig* config, Plan* plan);

// Fills in what the configuration leaves open: a name that all ranks derive alike, and the world rank.
void CompletePlan(uint32_t world_rank, Plan* plan);

}  // namespace ropeway::comm
