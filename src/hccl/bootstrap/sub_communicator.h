// A communicator out of some ranks of another one. They know each other already, so nothing has to be carried between
// them: the first of them is the root, at the address where it listens anyway, and name and secret are derived from the
// parent's.
#pragma once

#include <vector>

#include "hccl/base/result.h"
#include "hccl/bootstrap/bootstrap.h"

namespace ropeway::comm {

constexpr uint64_t kNoSubCommunicator = 0xffffffff;

// `rank` < ranks.size(). HCCL_E_PARA for a list that is none of ranks of the parent, or whose entry `rank` is not the
// caller.
Status PlanSubCommunicator(const std::shared_ptr<Communicator>& parent, const std::vector<uint32_t>& ranks, uint64_t id, uint32_t rank,
                           Plan* plan);

}  // namespace ropeway::comm
